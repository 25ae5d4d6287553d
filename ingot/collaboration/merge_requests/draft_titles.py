"""Titles that say that something is not to be merged yet."""

import re

_DRAFT = re.compile(r"\s*(?:\[(?:wip|draft)\]|(?:wip|draft):|\(draft\)|wip\s)", re.IGNORECASE)
_DRAFTS = re.compile(rf"(?:{_DRAFT.pattern})+\s*", re.IGNORECASE)
_FIRST = frozenset("wWdD[( \t\n\r\f\v")
DRAFT_PREFIXES = ("wip:", "wip ", "[wip]", "draft:", "[draft]", "(draft)")
"""The same for folded titles, as a list asks for them."""


def is_draft(title: str) -> bool:
    """Whether a title begins with a word for it."""
    # Asked of every row of a list: most titles begin with another letter.
    return title[:1] in _FIRST and _DRAFT.match(title) is not None


def add_draft_prefix(title: str, word: str) -> str:
    """The title with such a word before it, where there is none yet."""
    return title if is_draft(title) else f"{word}: {title}"


def remove_draft_prefix(title: str) -> str:
    """The title without any of these words before it; nothing where it says nothing else."""
    return _DRAFTS.sub("", title, count=1) if is_draft(title) else title
