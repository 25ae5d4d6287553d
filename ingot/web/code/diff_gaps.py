"""Collapsed unchanged lines of a diff: the rows that represent them and the links that expand them."""

from functools import partial
from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlencode

from ingot.web.display_zone import translate_label

LINES_PER_EXPANSION = 20
"""Lines shown by one expansion of a longer gap."""
_CONTEXT = 3
"""Context lines that git includes below the last change, if the file has that many."""


class DiffGap(NamedTuple):
    """Range of collapsed unchanged lines, by their new line numbers."""

    first: int
    last: int | None
    """None below the last change, where the length of the file is unknown."""
    ahead: int
    """Difference between new and old line numbers."""

    @property
    def empty(self) -> bool:
        """Return whether the gap contains no lines."""
        return self.last is not None and self.last < self.first


class GapContext(NamedTuple):
    """File at the new side of a diff, for the rows between its hunks."""

    project_url: str
    """Base URL of the project's pages."""
    commit: str
    path: str
    anchor: str
    split: bool

    def row(self, gap: DiffGap, text: str) -> str:
        """Render the row of a gap; ``text`` is additional text, such as the heading of the hunk."""
        links = " ".join(self._links(gap))
        columns = 4 if self.split else 3
        return f'<tr class="hunk"><td colspan="{columns}">{links} {escape(text)}</td></tr>\n'

    def _links(self, gap: DiffGap) -> list[str]:
        below = partial(self._link, gap, "down", "↓ {} more", "Show {} more lines below", LINES_PER_EXPANSION)
        if gap.last is None:
            return [below(gap.first)]
        length = gap.last - gap.first + 1
        if length <= LINES_PER_EXPANSION:
            texts = (
                ("↕ {} more line", "Show {} more line") if length == 1 else ("↕ {} more lines", "Show {} more lines")
            )
            return [self._link(gap, "up", *texts, length, gap.first)]
        above = self._link(gap, "up", "↑ {} more", "Show {} more lines above", LINES_PER_EXPANSION, gap.last)
        return [above] if gap.first == 1 else [below(gap.first), above]

    def _link(self, gap: DiffGap, way: str, text: str, name: str, lines: int, line: int) -> str:
        """Render a link that loads lines with JavaScript, and opens the file at ``line`` without it."""
        text, name = (translate_label(label).format(lines) for label in (text, name))
        params = {"way": way, "first": gap.first, "last": gap.last or "", "ahead": gap.ahead, "anchor": self.anchor}
        query = urlencode(params | ({"view": "split"} if self.split else {}))
        file = f"{self.commit}/{quote(self.path)}"
        address = f"{self.project_url}/-/blob/{file}?plain=1&all=1#L{line}"
        part = f"{self.project_url}/-/diff_lines/{file}?{query}"
        swap = 'hx-target="closest tr" hx-swap="outerHTML"'
        return f'<a href="{escape(address)}" hx-get="{escape(part)}" {swap} aria-label="{name}">{text}</a>'


def is_end_of_file(signs: str) -> bool:
    """Return whether a file ends with its last hunk; ``signs`` are the first characters of the hunk's lines."""
    return signs.endswith("\\") or not signs.endswith(" " * _CONTEXT)
