"""Which parts of a markdown text are no prose: code, addresses of links, HTML.

Everything here goes once from left to right, however hostile the text is; what has no end is looked for only once.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

FILLER = "\x00"
"""Stands for each hidden character; no text holds it, and no name or number does."""

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

_SPECIAL = re.compile(r"\\[!-/:-@\[-`{-~]|`++|<|\[|\]|\n[ \t]*+\n")
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
    """The text with blocks of code and HTML, and definitions of links, hidden; every place stays where it was."""
    return _mask(text, _block_spans(text))


def mask_non_prose(text: str) -> str:
    """The text with everything hidden that is no prose."""
    shown = mask_blocks(text)
    return _mask(shown, _inline_spans(shown))


def _mask(text: str, spans: Iterator[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces.append(text[done:start])
        pieces.append(_NON_SPACE.sub(lambda ink: FILLER * len(ink[0]), text[start:end]))
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _block_spans(text: str) -> Iterator[Span]:
    blocks = _BlockScanner()
    start = 0
    for line in text.split("\n"):
        if blocks.hides(line):
            yield start, start + len(line)
        start += len(line) + 1


class _BlockScanner:
    """Which block the reader of the lines is in."""

    def __init__(self) -> None:
        self._fence = ""
        self._ending = ""
        self._html = False
        self._code = False
        self._blank = True
        self._items: list[int] = []

    def hides(self, line: str) -> bool:
        """Whether the next line is no prose."""
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
        found = _FENCE.match(line)
        if found is None or (found[1][0] == "`" and "`" in found["info"]):
            return False
        self._fence, self._code = found[1], False
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
        """Four columns further in than what is around it, after a blank line."""
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
    """Code spans, tags, comments and links, from left to right and apart from each other."""
    ticks = _BacktickRuns(text)
    spans: list[Span] = []
    labels: list[int] = []
    commented = True
    at = 0
    while (found := _SPECIAL.search(text, at)) is not None:
        sign, start, at = found[0], found.start(), found.end()
        end = None
        if sign[0] == "\n":
            labels.clear()
            at = start + 1
        elif sign[0] == "\\":
            end = at
        elif sign[0] == "`":
            end = ticks.closing(start, at)
        elif sign == "<" and commented and text.startswith("<!--", start):
            closed = text.find("-->", start + 4)
            commented = closed >= 0
            end = closed + 3 if commented else None
        elif sign == "<":
            tag = _TAG.match(text, start)
            end = tag.end() if tag else None
        elif sign == "[":
            labels.append(start)
        elif labels:
            start = labels.pop()
            link = _DESTINATION.match(text, at)
            end = link.end() if link else None
        if end is not None:
            while spans and spans[-1][0] >= start:
                spans.pop()
            spans.append((start, end))
            at = end
    return iter(spans)


class _BacktickRuns:
    """The runs of backticks of a text, so that the end of each code span is found without looking twice."""

    def __init__(self, text: str) -> None:
        self._runs: dict[int, list[int]] = {}
        for run in re.finditer("`++", text):
            self._runs.setdefault(len(run[0]), []).append(run.start())
        self._breaks = [gap.start() for gap in re.finditer(r"\n[ \t]*+(?=\n)", text)]

    def closing(self, start: int, end: int) -> int | None:
        """Where the code span that a run opens ends; it does not go beyond its paragraph."""
        runs = self._runs.get(end - start, [])
        index = bisect_left(runs, end)
        gap = bisect_left(self._breaks, end)
        last = self._breaks[gap] if gap < len(self._breaks) else None
        if index == len(runs) or (last is not None and runs[index] > last):
            return None
        return runs[index] + end - start
