"""Lines of a file as table rows, cached by blob id."""

from sys import getsizeof
from typing import NamedTuple

from markupsafe import Markup

from ingot.cache import BoundedCache, declare_cache
from ingot.core.markup.highlighting import highlight_lines
from ingot.offload import require_blocking_allowed
from ingot.web.bidi import mark_bidi_characters

FIRST_LINES = 400
"""Number of lines shown at first if the rows of the file are not cached."""
MAX_LINES = 30_000
_MAX_INLINE_LENGTH = 8_000
_line_cache: BoundedCache[tuple[str, str, str], "FileLines"] = declare_cache("file-lines", share=6)


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
    if not everything and len(texts) > FIRST_LINES:
        # Highlight the rest only on request: for a long file this takes longer than a page should.
        html = highlight_lines("\n".join(texts[:FIRST_LINES]), language)
        beginning = FileLines(_rows(html, 1, anchor), Markup(), len(texts), len(texts) - FIRST_LINES)
        return _cached((f"{oid} begins", language, anchor), beginning)
    html = highlight_lines("\n".join(texts), language)[:MAX_LINES]
    rest = _rows(html[FIRST_LINES:], FIRST_LINES + 1, anchor)
    return _cached((oid, language, anchor), FileLines(_rows(html[:FIRST_LINES], 1, anchor), rest, len(texts), 0))


def _cached(key: tuple[str, str, str], lines: FileLines) -> FileLines:
    return _line_cache.put(key, lines, getsizeof(lines.first) + getsizeof(lines.rest) + 500)


def _rows(html: list[str], start: int, anchor: str) -> Markup:
    rows = [
        f'<tr id="{anchor}{number}"><td><a href="#{anchor}{number}">{number}</a><td>{mark_bidi_characters(line)}\n'
        for number, line in enumerate(html, start)
    ]
    return Markup("".join(rows))  # noqa: S704 - The highlighter has escaped them.
