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
_kept: Remembered[tuple[str, str, str], "Lines"] = Remembered(1_000, 32 * 2**20)


class Lines(NamedTuple):
    """Rows of a table, up to where a first look ends and from there on."""

    first: Markup
    rest: Markup
    total: int
    left: int
    """How many are in neither, since nobody has asked for the rest yet."""


def lines_of(oid: str, text: str, language: str, *, everything: bool, anchor: str = "L") -> Lines:
    """The lines of a content; all of them where they are at hand, or asked for; ``anchor`` begins their addresses."""
    kept = _kept.get((oid, language, anchor))
    kept = kept or (None if everything else _kept.get((f"{oid} begins", language, anchor)))
    if kept is not None:
        return kept
    if len(text) > _LONGEST_INLINE:
        expect_a_wait()
    texts = text.removesuffix("\n").split("\n")
    if not everything and len(texts) > AT_ONCE:
        # The whole is only begun when it is wanted: to colour it takes longer than anybody waits for a page.
        html = highlighted_lines("\n".join(texts[:AT_ONCE]), language)
        beginning = Lines(_rows(html, 1, anchor), Markup(), len(texts), len(texts) - AT_ONCE)
        return _keep((f"{oid} begins", language, anchor), beginning)
    html = highlighted_lines("\n".join(texts), language)[:MOST_LINES]
    rest = _rows(html[AT_ONCE:], AT_ONCE + 1, anchor)
    return _keep((oid, language, anchor), Lines(_rows(html[:AT_ONCE], 1, anchor), rest, len(texts), 0))


def _keep(key: tuple[str, str, str], lines: Lines) -> Lines:
    return _kept.keep(key, lines, 2 * (len(lines.first) + len(lines.rest)) + 400)


def _rows(html: list[str], start: int, anchor: str) -> Markup:
    rows = [
        f'<tr id="{anchor}{number}"><td><a href="#{anchor}{number}">{number}</a><td>{with_marks(line)}\n'
        for number, line in enumerate(html, start)
    ]
    return Markup("".join(rows))  # noqa: S704 - The highlighter has escaped them.
