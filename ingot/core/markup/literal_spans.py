"""Detection of the parts of a markdown text that are not prose: code, formulas, link destinations and HTML.

All scans are linear from left to right, also for hostile texts; an unclosed construct is searched for only once.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from ingot.core.markup.math import BLOCK_DELIMITER, INLINE_FORMULA

FILLER = "\x00"
"""Replaces each masked character; it occurs in no text, name or number."""

_FENCE = re.compile(r"[ \t>]*+(?:(?:[-+*]|\d{1,9}+[.)])[ \t]++)*+(`{3,}+|~{3,}+)(?P<info>.*+)")
_ITEM = re.compile(r"([ \t]*+)(?:[-+*]|\d{1,9}+[.)])([ \t]++)(?=\S)")
_INDENT = re.compile(r"[ \t]*+")
_DEFINITION = re.compile(r" {0,3}+\[(?!\^)[^\]\[]{1,999}+\]:.*+")
_VERBATIM = re.compile(r" {0,3}+<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_BLOCK = re.compile(
    r" {0,3}+</?+(?:address|article|aside|base|blockquote|body|caption|center|col|dd|details|dialog|dir|div|dl|dt|"
    r"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    r"nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    r"(?=[\s/>]|$)",
    re.IGNORECASE,
)
_LONE_TAG = re.compile(r" {0,3}+</?[A-Za-z][A-Za-z0-9-]*+(?:[\s/][^<>]*+)?+>[ \t]*+$")

_SPECIAL = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<|\[|\]|\$|\n[ \t]*+\n")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*+(?:[\s/][^<>]*+)?+>")
_DESTINATION = re.compile(
    r"""\(\s*+
    (?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)
    (?:\s++(?:"[^"]*+"|'[^']*+'|\([^()]*+\)))?+
    \s*+\)""",
    re.VERBOSE,
)
_NON_SPACE = re.compile(r"[^\n]+")

Span = tuple[int, int]


def mask_blocks(text: str) -> str:
    """Mask blocks of code and HTML and link definitions; all positions are preserved."""
    return _mask(text, _block_spans(text))


def mask_non_prose(text: str) -> str:
    """Mask everything that is not prose; all positions are preserved."""
    masked = mask_blocks(text)
    return _mask(masked, _inline_spans(masked))


def _mask(text: str, spans: Iterator[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        pieces.append(_NON_SPACE.sub(lambda run: FILLER * len(run[0]), text[start:end]))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _block_spans(text: str) -> Iterator[Span]:
    lines = text.split("\n")
    scanner = _BlockScanner(sum(BLOCK_DELIMITER.fullmatch(line) is not None for line in lines) if "$$" in text else 0)
    start = 0
    for line in lines:
        if scanner.hides(line):
            yield start, start + len(line)
        start += len(line) + 1


class _BlockScanner:
    """State of the line-by-line block scanner."""

    def __init__(self, formula_delimiters: int) -> None:
        self._formula_delimiters = formula_delimiters
        """Delimiters of formulas in the lines that follow; the last one of an odd number opens nothing."""
        self._formula = False
        self._fence = ""
        self._ending = ""
        self._html = False
        self._code = False
        self._blank = True
        self._items: list[int] = []

    def hides(self, line: str) -> bool:
        """Process the next line and return whether it is not prose."""
        if self._formula_delimiters and BLOCK_DELIMITER.fullmatch(line):
            self._formula_delimiters -= 1
            if self._formula or (self._formula_delimiters and not self._fence and not self._ending):
                self._formula = not self._formula
                self._blank = False
                return True
        if self._formula:
            return True
        if self._fence:
            self._fence = "" if self._closes_fence(line) else self._fence
            return True
        if self._ending:
            self._ending = "" if self._ending in line.lower() else self._ending
            return True
        if not line.strip():
            self._html, self._blank = False, True
            return False
        hides = self._html or self._opens_fence(line) or self._opens_html(line) or self._is_indented_code(line)
        hides = hides or _DEFINITION.fullmatch(line) is not None
        self._blank = False
        return hides

    def _closes_fence(self, line: str) -> bool:
        marks = line.strip(" \t>")
        return len(marks) >= len(self._fence) and not marks.strip(self._fence[0])

    def _opens_fence(self, line: str) -> bool:
        match = _FENCE.match(line)
        if match is None or (match[1][0] == "`" and "`" in match["info"]):
            return False
        self._fence, self._code = match[1], False
        return True

    def _opens_html(self, line: str) -> bool:
        verbatim = _VERBATIM.match(line)
        if verbatim is not None:
            end = f"</{verbatim[1].lower()}>"
            self._ending = "" if end in line.lower() else end
            return True
        self._html = _BLOCK.match(line) is not None or (self._blank and _LONE_TAG.match(line) is not None)
        return self._html

    def _is_indented_code(self, line: str) -> bool:
        """Return whether the line is indented four columns more than its context, after a blank line."""
        space = _INDENT.match(line)
        indent = _columns(space[0]) if space else 0
        item = _ITEM.match(line)
        if self._blank or item is not None:
            while self._items and indent < self._items[-1]:
                self._items.pop()
        deep = indent - (self._items[-1] if self._items else 0) >= 4
        self._code = deep and (self._blank or self._code)
        if not self._code and item is not None:
            self._items.append(indent + len(item[0].strip()) + min(_columns(item[2]), 4))
        return self._code


def _columns(space: str) -> int:
    return len(space) + 3 * space.count("\t")


def _inline_spans(text: str) -> Iterator[Span]:
    """Return the spans of code, tags, comments and links, ordered and disjoint."""
    backtick_runs = _BacktickRuns(text)
    spans: list[Span] = []
    labels: list[int] = []
    may_have_comment = True
    position = 0
    while (match := _SPECIAL.search(text, position)) is not None:
        symbol, start, position = match[0], match.start(), match.end()
        end = None
        if symbol[0] == "\n":
            labels.clear()
            position = start + 1
        elif symbol[0] == "\\":
            end = position
        elif symbol[0] == "`":
            end = backtick_runs.closing(start, position)
        elif symbol == "<" and may_have_comment and text.startswith("<!--", start):
            closed = text.find("-->", start + 4)
            may_have_comment = closed >= 0
            end = closed + 3 if may_have_comment else None
        elif symbol == "<":
            tag = _TAG.match(text, start)
            end = tag.end() if tag else None
        elif symbol == "$":
            formula = INLINE_FORMULA.match(text, start)
            end = formula.end() if formula else None
        elif symbol == "[":
            labels.append(start)
        elif labels:
            start = labels.pop()
            link = _DESTINATION.match(text, position)
            end = link.end() if link else None
        if end is not None:
            while spans and spans[-1][0] >= start:
                spans.pop()
            spans.append((start, end))
            position = end
    return iter(spans)


class _BacktickRuns:
    """Index of the backtick runs of a text, which finds the end of a code span without rescanning."""

    def __init__(self, text: str) -> None:
        self._runs: dict[int, list[int]] = {}
        for run in re.finditer("`++", text):
            self._runs.setdefault(len(run[0]), []).append(run.start())
        self._breaks = [gap.start() for gap in re.finditer(r"\n[ \t]*+(?=\n)", text)]

    def closing(self, start: int, end: int) -> int | None:
        """Return the end of the code span that a run opens; None if it does not close in its paragraph."""
        runs = self._runs.get(end - start, [])
        index = bisect_left(runs, end)
        gap = bisect_left(self._breaks, end)
        last = self._breaks[gap] if gap < len(self._breaks) else None
        if index == len(runs) or (last is not None and runs[index] > last):
            return None
        return runs[index] + end - start
