"""The lines of a file as rows of a table, kept by the id of their content."""

from typing import NamedTuple

from markupsafe import Markup

from ingot.git.remembered import Remembered
from ingot.inline import expect_a_wait
from ingot.markup.highlighting import highlighted_lines
from ingot.web.directions import with_marks

AT_ONCE = 400
"""So many lines are shown of a file that nobody has looked at of late."""
MOST_LINES = 30_000
_LONGEST_INLINE = 8_000
_kept: Remembered[tuple[str, str], "Lines"] = Remembered(1_000, 32 * 2**20)


class Lines(NamedTuple):
    """Rows of a table, up to where a first look ends and from there on."""

    first: Markup
    rest: Markup
    total: int
    left: int
    """How many are in neither, since nobody has asked for the rest yet."""


def lines_of(oid: str, text: str, language: str, *, everything: bool) -> Lines:
    """The lines of a content; all of them where they are at hand, or asked for."""
    kept = _kept.get((oid, language)) or (None if everything else _kept.get((f"{oid} begins", language)))
    if kept is not None:
        return kept
    if len(text) > _LONGEST_INLINE:
        expect_a_wait()
    texts = text.removesuffix("\n").split("\n")
    if not everything and len(texts) > AT_ONCE:
        # The whole is only begun when it is wanted: to colour it takes longer than anybody waits for a page.
        html = highlighted_lines("\n".join(texts[:AT_ONCE]), language)
        beginning = Lines(_rows(html, 1), Markup(), len(texts), len(texts) - AT_ONCE)
        return _keep(f"{oid} begins", language, beginning)
    html = highlighted_lines("\n".join(texts), language)[:MOST_LINES]
    whole = Lines(_rows(html[:AT_ONCE], 1), _rows(html[AT_ONCE:], AT_ONCE + 1), len(texts), 0)
    return _keep(oid, language, whole)


def _keep(oid: str, language: str, lines: Lines) -> Lines:
    return _kept.keep((oid, language), lines, 2 * (len(lines.first) + len(lines.rest)) + 400)


def _rows(html: list[str], start: int) -> Markup:
    rows = [
        f'<tr id="L{number}"><td><a href="#L{number}">{number}</a><td>{with_marks(line)}\n'
        for number, line in enumerate(html, start)
    ]
    return Markup("".join(rows))  # noqa: S704 - The highlighter has escaped them.
