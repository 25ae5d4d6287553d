"""Titles that say that something is not to be merged yet."""

import re

_DRAFT = re.compile(r"\s*(?:\[(?:wip|draft)\]|(?:wip|draft):|\(draft\)|wip\s)", re.IGNORECASE)
BEGINNINGS = ("wip:", "wip ", "[wip]", "draft:", "[draft]", "(draft)")
"""The same for folded titles, as a list asks for them."""


def is_draft(title: str) -> bool:
    """Whether a title begins with a word for it."""
    return _DRAFT.match(title) is not None
