"""Accessible labels for the checkboxes of task lists, for screen readers."""

import re

# Matches complete tags, so that text inside an attribute is never taken for a tag.
_TAG = re.compile(r'<[a-zA-Z][^\s>]*(?: [^\s=>"]+="[^"]*")*>')
_CHECKBOX = "<input "


def label_task_checkboxes(html: str) -> str:
    """Add a numbered ``aria-label`` to each checkbox in sanitized HTML."""
    if _CHECKBOX not in html:
        return html
    number = 0

    def label(match: re.Match[str]) -> str:
        nonlocal number
        tag = match[0]
        if not tag.startswith(_CHECKBOX):
            return tag
        number += 1
        return f'{_CHECKBOX}aria-label="Task {number}" {tag.removeprefix(_CHECKBOX)}'

    return _TAG.sub(label, html)
