"""Draft prefixes of titles."""

import re

_DRAFT = re.compile(r"\s*(?:\[(?:wip|draft)\]|(?:wip|draft):|\(draft\)|wip\s)", re.IGNORECASE)
_DRAFTS = re.compile(rf"(?:{_DRAFT.pattern})+\s*", re.IGNORECASE)
_FIRST = frozenset("wWdD[( \t\n\r\f\v")
DRAFT_PREFIXES = ("wip:", "wip ", "[wip]", "draft:", "[draft]", "(draft)")
"""Prefixes of case-folded titles, for the SQL condition of lists."""


def is_draft(title: str) -> bool:
    """Return whether a title begins with a draft prefix."""
    # Called for every row of a list: the first character rules out most titles quickly.
    return title[:1] in _FIRST and _DRAFT.match(title) is not None


def add_draft_prefix(title: str, word: str) -> str:
    """Return the title with a draft prefix, unless it has one already."""
    return title if is_draft(title) else f"{word}: {title}"


def remove_draft_prefix(title: str) -> str:
    """Return the title without draft prefixes; empty if nothing else remains."""
    return _DRAFTS.sub("", title, count=1) if is_draft(title) else title
