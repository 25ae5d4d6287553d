"""Lines that a difference leaves out: the rows that stand for them, and what these lead to."""

from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlencode

LINES_PER_EXPANSION = 20
"""So many lines are shown of a gap that is longer."""
_CONTEXT = 3
"""So many lines git shows below the last change, if the file has as many."""


class DiffGap(NamedTuple):
    """Lines that stayed as they were, by their new numbers."""

    first: int
    last: int | None
    """Unknown below the last change."""
    ahead: int
    """By how much new numbers are ahead of old ones."""

    @property
    def empty(self) -> bool:
        """Whether nothing is left out."""
        return self.last is not None and self.last < self.first


class GapContext(NamedTuple):
    """The file that a difference leads to, as rows between its hunks need it."""

    place: str
    """Where the project's pages begin."""
    commit: str
    path: str
    anchor: str
    split: bool

    def row(self, gap: DiffGap, said: str) -> str:
        """Stands for a gap; ``said`` is what else the row says."""
        links = " ".join(self._links(gap))
        columns = 4 if self.split else 3
        return f'<tr class="hunk"><td colspan="{columns}">{links} {escape(said)}</td></tr>\n'

    def _links(self, gap: DiffGap) -> list[str]:
        if gap.last is None:
            return [
                self._link(
                    gap,
                    "down",
                    f"↓ {LINES_PER_EXPANSION} more",
                    f"Show {LINES_PER_EXPANSION} more lines below",
                    gap.first,
                )
            ]
        length = gap.last - gap.first + 1
        if length <= LINES_PER_EXPANSION:
            said = f"{length} more line{'s' * (length > 1)}"
            return [self._link(gap, "up", f"↕ {said}", f"Show {said}", gap.first)]
        above = self._link(
            gap, "up", f"↑ {LINES_PER_EXPANSION} more", f"Show {LINES_PER_EXPANSION} more lines above", gap.last
        )
        if gap.first == 1:
            return [above]
        return [
            self._link(
                gap, "down", f"↓ {LINES_PER_EXPANSION} more", f"Show {LINES_PER_EXPANSION} more lines below", gap.first
            ),
            above,
        ]

    def _link(self, gap: DiffGap, way: str, text: str, name: str, line: int) -> str:
        """Leads to the lines themselves for a script, and else to the file at the line."""
        asked = {"way": way, "first": gap.first, "last": gap.last or "", "ahead": gap.ahead, "anchor": self.anchor}
        query = urlencode(asked | ({"view": "split"} if self.split else {}))
        file = f"{self.commit}/{quote(self.path)}"
        address = f"{self.place}/-/blob/{file}?plain=1&all=1#L{line}"
        part = f"{self.place}/-/diff_lines/{file}?{query}"
        swap = 'hx-target="closest tr" hx-swap="outerHTML"'
        return f'<a href="{escape(address)}" hx-get="{escape(part)}" {swap} aria-label="{name}">{text}</a>'


def is_end_of_file(signs: str) -> bool:
    """Whether a file ends with its last hunk; ``signs`` are those of the hunk's lines."""
    return signs.endswith("\\") or not signs.endswith(" " * _CONTEXT)
