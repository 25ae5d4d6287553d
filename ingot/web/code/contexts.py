"""More lines around those that changed, for a difference that is on the screen."""

import re
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.markup.highlighting import highlighted_lines, language_of
from ingot.repository.files.queries import find_file
from ingot.web.code.gaps import AT_ONCE, Around, Gap
from ingot.web.code.patches import Hunk, Line, split_rows, unified_rows
from ingot.web.code.reading import content_of
from ingot.web.code.where import Where, where_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit

pages = Pages()
_ANCHOR = re.compile(r"d[0-9a-f]{10}(x[0-9]{1,9})?")
_HIGHEST = 10**8


class _Asked(NamedTuple):
    gap: Gap
    down: bool
    """Whether the first lines of the gap are wanted, or the last ones."""
    around: Around


@pages.get("/:path/-/diff_lines/:rest", open=True, slashes="rest")
def show_lines(visit: Visit, db: Connection) -> Reply:
    """Lines of a file as rows of a difference, and a row for those of the gap that are still left out."""
    where = where_of(visit, db)
    asked = _asked(where)
    if not visit.fragment:
        return Redirect(f"{where.url('blob')}?plain=1&all=1#L{asked.gap.first}")
    content = content_of(find_file(where.repository, where.commit, where.path))
    if content.kind not in ("text", "pointer"):
        raise NotFound("File")
    return Page("code/_rows.html", {"rows": _rows(asked, content.text.removesuffix("\n").split("\n"))})


def _asked(where: Where) -> _Asked:
    query = where.place.visit.query
    first, last = (number_or_none(str(query.get(name, ""))) for name in ("first", "last"))
    ahead, anchor = str(query.get("ahead", "")), str(query.get("anchor", ""))
    moved = number_or_none(ahead.removeprefix("-"))
    if first is None or moved is None or max(first, moved, last or 0) > _HIGHEST or not _ANCHOR.fullmatch(anchor):
        raise NotFound("File")
    around = Around(where.place.url, where.commit, where.path, anchor, query.get("view") == "split")
    gap = Gap(max(1, first), last, -moved if ahead.startswith("-") else moved)
    return _Asked(gap, query.get("way") == "down", around)


def _rows(asked: _Asked, texts: list[str]) -> Markup:
    gap, around = asked.gap, asked.around
    end = len(texts) if gap.last is None else min(gap.last, len(texts))
    if asked.down:
        shown = range(gap.first, min(end, gap.first + AT_ONCE - 1) + 1)
        left = Gap(shown.stop, gap.last, gap.ahead)
        more = end >= left.first
    else:
        shown = range(max(gap.first, end - AT_ONCE + 1), end + 1)
        left = Gap(gap.first, shown.start - 1, gap.ahead)
        more = not left.empty
    rows = _of(shown, texts, asked)
    row = [around.row(left, "")] if more else []
    return Markup("".join([*rows, *row] if asked.down else [*row, *rows]))  # noqa: S704 - All of it is escaped.


def _of(numbers: range, texts: list[str], asked: _Asked) -> list[str]:
    """These lines as rows, in the colours of their language."""
    gap, around = asked.gap, asked.around
    chosen = texts[numbers.start - 1 : numbers.stop - 1]
    language = language_of(around.path)
    colored = (
        highlighted_lines("\n".join(chosen), language) if language else [escape(text, quote=False) for text in chosen]
    )
    lines = [
        Line(" ", number - gap.ahead, number, text, html)
        for number, text, html in zip(numbers, chosen, colored, strict=False)
    ]
    hunks = [Hunk("", lines)]
    rows = (split_rows if around.split else unified_rows)(hunks, around.anchor, "#")
    return [row.html for row in rows[1:]]
