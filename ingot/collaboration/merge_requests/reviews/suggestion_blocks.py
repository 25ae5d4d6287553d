"""Suggested changes in the text of a note: fenced code blocks with the language ``suggestion``."""

import re
from typing import NamedTuple

MAX_SUGGESTIONS = 20
"""Number of suggestions of one note; further blocks are shown as code."""
MAX_CONTEXT_LINES = 100
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]*?)[ \t]*")
_INFO = re.compile(r"suggestion(?::(?:-(?P<above>[0-9]{1,9}))?(?:\+(?P<below>[0-9]{1,9}))?)?")


class SuggestionBlock(NamedTuple):
    """New text for the line of a note, and for some lines above and below it."""

    text: str
    above: int
    below: int


def suggestion_blocks(body: str) -> list[SuggestionBlock]:
    """Return the suggestions in the text of a note."""
    blocks: list[SuggestionBlock] = []
    fence, info = "", None
    lines: list[str] = []
    for line in body.replace("\r\n", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        if not fence and match is not None:
            fence, info, lines = match["fence"], _INFO.fullmatch(match["info"]), []
        elif fence and match is not None and not match["info"] and match["fence"].startswith(fence):
            if info is not None:
                blocks.append(_block(info, lines))
            fence = ""
        elif fence:
            lines.append(line)
    return blocks[:MAX_SUGGESTIONS]


def _block(info: re.Match[str], lines: list[str]) -> SuggestionBlock:
    above, below = (min(int(info[name] or 0), MAX_CONTEXT_LINES) for name in ("above", "below"))
    return SuggestionBlock("\n".join(lines), above, below)
