"""Patch parser and table rows of diffs."""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from ingot.core.markup.highlighting import highlight_lines
from ingot.web.bidi import mark_bidi_characters
from ingot.web.code.diff_gaps import DiffGap, GapContext, is_end_of_file
from ingot.web.code.word_diff import changed_words, mark_spans

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,(\d+))? @@(.*)")
_MAX_PAIRS = 200
"""Maximum number of line pairs compared word by word in one file."""

LineKey = tuple[int | None, int | None]


class DiffLine(NamedTuple):
    """One line of a hunk; ``sign`` is its first character in the patch."""

    sign: str
    old: int | None
    new: int | None
    text: str
    html: str

    @property
    def key(self) -> LineKey:
        """Return the key by which comments refer to the line."""
        return self.old, self.new


class DiffHunk(NamedTuple):
    """Consecutive lines of a patch."""

    heading: str
    lines: list[DiffLine]


class DiffRow(NamedTuple):
    """HTML of a row, and the lines that it shows."""

    html: str
    keys: tuple[LineKey, ...] = ()


class HighlightedPatch(NamedTuple):
    """Hunks of a patch with syntax highlighting."""

    hunks: list[DiffHunk]
    lasting: bool
    """False if highlighting was not possible at the moment, so that the result must not be cached."""


def parse_hunks(diff: str, language: str) -> HighlightedPatch:
    """Parse the hunks of a patch and mark changed words; highlight the syntax if a language is given."""
    hunks, lasting = _parse_patch(diff), True
    if language:
        sides = [_side(hunk, sign) for hunk in hunks for sign in ("-", "+")]
        highlighted = highlight_lines(sides, language)
        pieces, lasting = iter(map(iter, highlighted.pieces)), highlighted.lasting
        hunks = [_highlighted(hunk, next(pieces), next(pieces)) for hunk in hunks]
    return HighlightedPatch(_with_changed_words(hunks), lasting)


def _parse_patch(diff: str) -> list[DiffHunk]:
    begins = 0 if diff.startswith("@@") else diff.find("\n@@") + 1
    if not begins and not diff.startswith("@@"):
        return []
    hunks: list[DiffHunk] = []
    old = new = 0
    lines: list[DiffLine] = []
    for text in diff[begins:].removesuffix("\n").split("\n"):
        sign, rest = text[:1], text[1:].removesuffix("\r")
        if sign == "@" and (match := _HUNK.match(text)):
            old, new, lines = int(match[1]), int(match[2]), []
            hunks.append(DiffHunk(match[0], lines))
        elif sign == "+":
            lines.append(DiffLine(sign, None, new, rest, escape(rest, quote=False)))
            new += 1
        elif sign == "-":
            lines.append(DiffLine(sign, old, None, rest, escape(rest, quote=False)))
            old += 1
        elif sign == "\\":
            lines.append(DiffLine(sign, None, None, text[2:], escape(text[2:], quote=False)))
        else:
            lines.append(DiffLine(" ", old, new, rest, escape(rest, quote=False)))
            old, new = old + 1, new + 1
    return hunks


def _highlighted(hunk: DiffHunk, old: Iterator[str], new: Iterator[str]) -> DiffHunk:
    """Return the hunk with the highlighted lines of its two sides."""
    lines = []
    for line in hunk.lines:
        if line.sign == "\\":
            lines.append(line)
            continue
        html = next(old) if line.sign in "- " else ""
        html = next(new) if line.sign in "+ " else html
        lines.append(line._replace(html=html))
    return hunk._replace(lines=lines)


def _side(hunk: DiffHunk, sign: str) -> str:
    """Return the code on one side of a hunk."""
    return "\n".join(line.text for line in hunk.lines if line.sign in (sign, " "))


def _with_changed_words(hunks: list[DiffHunk]) -> list[DiffHunk]:
    left = _MAX_PAIRS
    for hunk in hunks:
        for old, new in _pairs(hunk.lines):
            if left <= 0:
                return hunks
            left -= 1
            before, after = changed_words(hunk.lines[old].text, hunk.lines[new].text)
            hunk.lines[old] = hunk.lines[old]._replace(html=mark_spans(hunk.lines[old].html, before))
            hunk.lines[new] = hunk.lines[new]._replace(html=mark_spans(hunk.lines[new].html, after))
    return hunks


def _blocks(lines: list[DiffLine]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the indexes of lines removed and added together; an unchanged line is a block with itself on both sides."""
    removed: list[int] = []
    added: list[int] = []
    for index, line in enumerate(lines):
        if line.sign == "-" and not added:
            removed.append(index)
        elif line.sign == "+":
            added.append(index)
        elif line.sign != "\\":
            if removed or added:
                yield removed, added
            removed, added = ([index], []) if line.sign == "-" else ([], [])
            if line.sign == " ":
                yield [index], [index]
    if removed or added:
        yield removed, added


def _pairs(lines: list[DiffLine]) -> Iterator[tuple[int, int]]:
    for removed, added in _blocks(lines):
        if removed != added:
            yield from zip(removed, added, strict=False)


def line_keys(diff: str) -> dict[tuple[str, int], LineKey]:
    """Return the keys of the lines of a patch by side, ``old`` or ``new``, and line number."""
    lines = [line for hunk in _parse_patch(diff) for line in hunk.lines]
    old = {("old", line.old): line.key for line in lines if line.old is not None}
    return old | {("new", line.new): line.key for line in lines if line.new is not None}


def line_id(anchor: str, key: LineKey) -> str:
    """Return the element id of a line."""
    old, new = key
    return f"{anchor}_{old or ''}_{new or ''}"


_CLASSES = {"+": "add", "-": "del", " ": "", "\\": "end"}


def unified_rows(
    hunks: list[DiffHunk], anchor: str, link: str, around: GapContext | None = None, same: str | None = None
) -> list[DiffRow]:
    """Render hunks in one column; ``around`` adds links that expand collapsed lines.

    ``link`` is the URL prefix of line numbers, and ``same`` that of unchanged lines if it differs.
    """
    rows = []
    for hunk, heading in zip(hunks, _headings(hunks, 3, around), strict=False):
        rows.append(heading)
        for line in hunk.lines:
            if line.sign == "\\":
                rows.append(DiffRow(f'<tr class="end"><td></td><td></td><td>{line.html}</td></tr>\n'))
                continue
            name = line_id(anchor, line.key)
            prefix = same if same is not None and line.sign == " " else link
            number = f'<a href="{prefix}{name}">{line.new or line.old}</a>'
            old, new = (number, "") if line.new is None else (line.old or "", number)
            cells = f"<td>{old}</td><td>{new}</td><td>{line.html}</td>"
            rows.append(DiffRow(f'<tr class="{_CLASSES[line.sign]}" id="{name}">{cells}</tr>\n', (line.key,)))
    return _with_visible_bidi(rows) + _trailing_row(hunks, around)


def split_rows(
    hunks: list[DiffHunk], anchor: str, link: str, around: GapContext | None = None, same: str | None = None
) -> list[DiffRow]:
    """Render hunks with old and new side by side."""
    rows = []
    for hunk, heading in zip(hunks, _headings(hunks, 4, around), strict=False):
        rows.append(heading)
        for removed, added in _blocks(hunk.lines):
            for index in range(max(len(removed), len(added))):
                left = hunk.lines[removed[index]] if index < len(removed) else None
                right = hunk.lines[added[index]] if index < len(added) else None
                # An unchanged line has only one linked number, on the right.
                prefix = same if same is not None and left is right else link
                cells = _cell(left, anchor, prefix, "old", left is not right), _cell(right, anchor, prefix, "new", True)
                keys = dict.fromkeys(line.key for line in (left, right) if line)
                rows.append(DiffRow(f"<tr>{''.join(cells)}</tr>\n", tuple(keys)))
    return _with_visible_bidi(rows) + _trailing_row(hunks, around)


def _with_visible_bidi(rows: list[DiffRow]) -> list[DiffRow]:
    return [row if row.html.isascii() else row._replace(html=mark_bidi_characters(row.html)) for row in rows]


def _headings(hunks: list[DiffHunk], columns: int, around: GapContext | None) -> Iterator[DiffRow]:
    """Yield the row above each hunk, which also represents the collapsed lines before it."""
    below = 1
    for hunk in hunks:
        old, new, after = _hunk_bounds(hunk)
        gap = DiffGap(below, new - 1, new - old)
        below = after
        if around is None or gap.empty:
            yield DiffRow(f'<tr class="hunk"><td colspan="{columns}">{escape(hunk.heading)}</td></tr>\n')
        else:
            yield DiffRow(around.row(gap, hunk.heading))


def _trailing_row(hunks: list[DiffHunk], around: GapContext | None) -> list[DiffRow]:
    """Return a row for the lines that may follow the last hunk."""
    if around is None or not hunks or is_end_of_file("".join(line.sign for line in hunks[-1].lines[-4:])):
        return []
    last = hunks[-1].lines[-1]
    if last.old is None or last.new is None:
        return []
    return [DiffRow(around.row(DiffGap(last.new + 1, None, last.new - last.old), ""))]


def _hunk_bounds(hunk: DiffHunk) -> tuple[int, int, int]:
    """Return the first old and new line number of a hunk, and the first line after it."""
    match = _HUNK.match(hunk.heading)
    if match is None:  # Lines without a hunk header: nothing is collapsed.
        return 1, 1, 1
    old, new = int(match[1]), int(match[2])
    return old, new, new + int(match[3] or 1)


def _cell(line: DiffLine | None, anchor: str, link: str, side: str, linked: bool) -> str:
    if line is None:
        return '<td class="none"></td><td class="none"></td>'
    name, number = line_id(anchor, line.key), line.old if side == "old" else line.new
    if not linked:
        return f"<td>{number}</td><td>{line.html}</td>"
    kind = _CLASSES[line.sign]
    return f'<td id="{name}" class="{kind}"><a href="{link}{name}">{number}</a></td><td class="{kind}">{line.html}</td>'
