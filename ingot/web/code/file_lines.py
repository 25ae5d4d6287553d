"""Lines of a file as table rows, cached by blob id."""

from sys import getsizeof
from typing import NamedTuple

from markupsafe import Markup

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.markup.highlighting import highlight_lines
from ingot.core.offload import require_blocking_allowed
from ingot.web.bidi import mark_bidi_characters

FIRST_LINES = 400
"""Number of lines shown at first if the rows of the file are not cached."""
MAX_LINES = 30_000
_MAX_INLINE_LENGTH = 8_000
_line_cache: BoundedCache[tuple[str, str, str], "FileLines"] = declare_cache("file-lines", share=5)


class FileLines(NamedTuple):
    """Table rows of a file: the first part and the rest."""

    first: Markup
    rest: Markup
    total: int
    left: int
    """Number of lines in neither part, because the rest has not been requested."""


def file_lines(oid: str, text: str, language: str, *, everything: bool, anchor: str = "L") -> FileLines:
    """Return the lines of a blob, or only the first part. ``anchor`` is the prefix of their element ids."""
    cached = _line_cache.get((oid, language, anchor))
    cached = cached or (None if everything else _line_cache.get((f"{oid} begins", language, anchor)))
    if cached is not None:
        return cached
    if len(text) > _MAX_INLINE_LENGTH:
        require_blocking_allowed()
    texts = text.removesuffix("\n").split("\n")
    # Highlight the rest only on request: for a long file this takes longer than a page should.
    shown = texts if everything or len(texts) <= FIRST_LINES else texts[:FIRST_LINES]
    highlighted = highlight_lines(["\n".join(shown)], language)
    html = highlighted.pieces[0][:MAX_LINES]
    first, rest = _rows(html[:FIRST_LINES], 1, anchor), _rows(html[FIRST_LINES:], FIRST_LINES + 1, anchor)
    lines = FileLines(first, rest, len(texts), len(texts) - len(shown))
    if highlighted.lasting:
        key = oid if shown is texts else f"{oid} begins"
        _line_cache.put((key, language, anchor), lines, getsizeof(first) + getsizeof(rest) + 500)
    return lines


def highlighted_lines(text: str, language: str, start: int, end: int) -> dict[int, Markup]:
    """Return the lines of a part of a file with syntax colors, by number."""
    require_blocking_allowed()
    part = text.split("\n")[start - 1 : end]
    lines = map(mark_bidi_characters, highlight_lines(["\n".join(part)], language).pieces[0])
    return {number: Markup(line) for number, line in enumerate(lines, start)}  # noqa: S704 - They are escaped.


def _rows(html: list[str], start: int, anchor: str) -> Markup:
    rows = [
        f'<tr id="{anchor}{number}"><td><a href="#{anchor}{number}">{number}</a><td>{mark_bidi_characters(line)}\n'
        for number, line in enumerate(html, start)
    ]
    return Markup("".join(rows))  # noqa: S704 - The highlighter has escaped them.
