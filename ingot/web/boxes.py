"""Boxes of task lists in texts: pages give each a name, for those who hear the page."""

import re

# Each tag whole, so that nothing within an attribute is ever taken for one.
_TAG = re.compile(r'<[a-zA-Z][^\s>]*(?: [^\s=>"]+="[^"]*")*>')
_BOX = "<input "


def with_named_boxes(html: str) -> str:
    """Text that has been made safe, each of its boxes called by its number."""
    if _BOX not in html:
        return html
    number = 0

    def named(found: re.Match[str]) -> str:
        nonlocal number
        tag = found[0]
        if not tag.startswith(_BOX):
            return tag
        number += 1
        return f'{_BOX}aria-label="Task {number}" {tag.removeprefix(_BOX)}'

    return _TAG.sub(named, html)
