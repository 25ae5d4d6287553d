"""Unchanged lines around the changes of a diff, loaded on demand."""

import re
from typing import NamedTuple

from markupsafe import Markup

from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.core.markup.highlighting import highlight_lines
from ingot.core.markup.lexers import language_of
from ingot.repositories import browser
from ingot.web.code.diff_gaps import LINES_PER_EXPANSION, DiffGap, GapContext
from ingot.web.code.file_kinds import file_content
from ingot.web.code.location import CodeLocation, code_location
from ingot.web.code.patch_rows import DiffHunk, DiffLine, split_rows, unified_rows
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_ANCHOR = re.compile(r"d[0-9a-f]{10}(x[0-9]{1,9})?")
_MAX_LINE_NUMBER = 10**8


class _RequestedLines(NamedTuple):
    gap: DiffGap
    down: bool
    """True for the first lines of the gap, false for the last."""
    around: GapContext


@pages.get("/:path/-/diff_lines/:rest", open=True, slashes="rest")
def show_lines(visit: Visit) -> PageResponse:
    """Return lines of a file as rows of a diff, and a row for the part of the gap that remains collapsed."""
    location = code_location(visit)
    requested = _requested_lines(location)
    if not visit.headers.fragment:
        return LocalRedirect(f"{location.url('blob')}?plain=1&all=1#L{requested.gap.first}")
    content = file_content(browser.read_file(location.repository, location.commit, location.path))
    if content.kind not in ("text", "pointer"):
        raise NotFound("File")
    return TemplateResponse("code/_rows.html", {"rows": _rows(requested, content.text.removesuffix("\n").split("\n"))})


def _requested_lines(location: CodeLocation) -> _RequestedLines:
    query = location.parent.visit.request.query
    first, last = (number_or_none(str(query.get(name, ""))) for name in ("first", "last"))
    ahead, anchor = str(query.get("ahead", "")), str(query.get("anchor", ""))
    moved = number_or_none(ahead.removeprefix("-"))
    if (
        first is None
        or moved is None
        or max(first, moved, last or 0) > _MAX_LINE_NUMBER
        or not _ANCHOR.fullmatch(anchor)
    ):
        raise NotFound("File")
    around = GapContext(location.parent.url, location.commit, location.path, anchor, query.get("view") == "split")
    gap = DiffGap(max(1, first), last, -moved if ahead.startswith("-") else moved)
    return _RequestedLines(gap, query.get("way") == "down", around)


def _rows(requested: _RequestedLines, texts: list[str]) -> Markup:
    gap, around = requested.gap, requested.around
    end = len(texts) if gap.last is None else min(gap.last, len(texts))
    if requested.down:
        shown = range(gap.first, min(end, gap.first + LINES_PER_EXPANSION - 1) + 1)
        left = DiffGap(shown.stop, gap.last, gap.ahead)
        more = end >= left.first
    else:
        shown = range(max(gap.first, end - LINES_PER_EXPANSION + 1), end + 1)
        left = DiffGap(gap.first, shown.start - 1, gap.ahead)
        more = not left.empty
    rows = _highlighted_rows(shown, texts, requested)
    row = [around.row(left, "")] if more else []
    return Markup("".join([*rows, *row] if requested.down else [*row, *rows]))  # noqa: S704 - The rows are escaped.


def _highlighted_rows(numbers: range, texts: list[str], requested: _RequestedLines) -> list[str]:
    """Render the lines as rows with syntax highlighting."""
    gap, around = requested.gap, requested.around
    chosen = texts[numbers.start - 1 : numbers.stop - 1]
    colored = highlight_lines(["\n".join(chosen)], language_of(around.path)).pieces[0]
    lines = [
        DiffLine(" ", number - gap.ahead, number, text, html)
        for number, text, html in zip(numbers, chosen, colored, strict=False)
    ]
    hunks = [DiffHunk("", lines)]
    rows = (split_rows if around.split else unified_rows)(hunks, around.anchor, "#")
    return [row.html for row in rows[1:]]
