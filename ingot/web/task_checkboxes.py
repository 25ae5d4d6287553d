"""Boxes of task lists in texts: pages give each a name, for those who hear the page."""

import re

# Each tag whole, so that nothing within an attribute is ever taken for one.
_TAG = re.compile(r'<[a-zA-Z][^\s>]*(?: [^\s=>"]+="[^"]*")*>')
_CHECKBOX = "<input "


def label_task_checkboxes(html: str) -> str:
    """Text that has been made safe, each of its boxes called by its number."""
    if _CHECKBOX not in html:
        return html
    number = 0

    def named(found: re.Match[str]) -> str:
        nonlocal number
        tag = found[0]
        if not tag.startswith(_CHECKBOX):
            return tag
        number += 1
        return f'{_CHECKBOX}aria-label="Task {number}" {tag.removeprefix(_CHECKBOX)}'

    return _TAG.sub(named, html)
