"""Syntax highlighting as HTML with CSS classes, computed in rendering processes."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ingot.core.markup.lexers import lexer_for
from ingot.core.markup.render_messages import CodeBlock, HighlightTask
from ingot.core.markup.render_pool import POOL, RendererUnavailable, RenderLimitExceeded

MAX_FILE_LENGTH = 200_000
"""Longer files are not highlighted."""
_CPU_SECONDS = 0.5
_CPU_SECONDS_PER_CHARACTER = 10e-6
"""Several times the usual effort of a lexer, so that the cost of a text is proportional to its length."""


class HighlightedFile(NamedTuple):
    """Lines of several pieces of a file as HTML, each line well-formed."""

    pieces: list[list[str]]
    lasting: bool
    """False if highlighting was not possible at the moment, so that the result must not be cached."""


class HighlightedBlocks(NamedTuple):
    """HTML of code blocks."""

    html: list[str]
    lasting: bool


def highlight_lines(pieces: Sequence[str], language: str) -> HighlightedFile:
    """Highlight pieces of a file, such as the hunks of a diff, at once; without colors if a limit is exceeded."""
    return highlight_pieces(pieces, [language] * len(pieces))


def highlight_pieces(pieces: Sequence[str], languages: Sequence[str]) -> HighlightedFile:
    """Do the same for pieces of several files, each in its language."""
    lexers = [lexer_for(language, code, MAX_FILE_LENGTH) for language, code in zip(languages, pieces, strict=True)]
    blocks = [CodeBlock(lexer, code) for lexer, code in zip(lexers, pieces, strict=True) if lexer and code]
    highlighted = highlight_blocks(blocks, all_classes=False)
    html = iter(highlighted.html)
    lines = [_lines(code, next(html) if lexer and code else None) for lexer, code in zip(lexers, pieces, strict=True)]
    return HighlightedFile(lines, highlighted.lasting)


def highlight_blocks(blocks: Sequence[CodeBlock], *, all_classes: bool = True) -> HighlightedBlocks:
    """Highlight code blocks at once; all are without colors if they exceed a limit together."""
    if not blocks:
        return HighlightedBlocks([], lasting=True)
    length = sum(len(block.code) for block in blocks)
    task = HighlightTask(_CPU_SECONDS + _CPU_SECONDS_PER_CHARACTER * length, list(blocks), all_classes)
    lasting = True
    try:
        return HighlightedBlocks(POOL.highlight(task), lasting=True)
    except RenderLimitExceeded:  # The pool has logged it.
        pass
    except RendererUnavailable:  # Likewise.
        lasting = False
    return HighlightedBlocks([escape(block.code, quote=False) for block in blocks], lasting)


def _lines(code: str, html: str | None) -> list[str]:
    plain = escape(code, quote=False).split("\n")
    if html is None:
        return plain
    lines = html.split("\n")
    if len(lines) == len(plain) + 1 and not lines[-1]:  # Pygments ends the last line with a newline.
        lines.pop()
    # A lexer may split lines differently; correct line numbers matter more than colors.
    return lines if len(lines) == len(plain) else plain
