"""Log of a job as HTML: numbered lines with links, foldable sections, and the state with which the next part begins.

A part consists of whole lines. The last, incomplete line of a running job is shown but sent again with the next part.
"""

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from ingot.core.api.params import number_or_none
from ingot.web.ci.ansi import PLAIN, TextStyle, plain_text, render_line, style_of_classes
from ingot.web.formats import duration

SHOWN_BYTES = 2**20
"""A longer log is shown from this many bytes before its end."""
PART_BYTES = 512 * 1024
"""Maximum size of a part; a line that is longer is divided."""
_MAX_SECTIONS = 8
_MAX_STATE = 2000
_MARKER = re.compile(r"section_(start|end):(\d{1,12}):([A-Za-z0-9_.-]{1,100})(\[[^\]\r\n]{0,200}\])?\r?(?:\x1b\[0K)?")
# Time stamps that runners add to lines if they are configured to.
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [0-9a-f]{2}[OE][ +]")


class LogSection(NamedTuple):
    """An open section."""

    name: str
    began: int
    line: int
    """Number of its first line, which names it in the page."""
    collapsed: bool = False


class LogState(NamedTuple):
    """Position in a log, with the style and the sections that are open there."""

    offset: int = 0
    line: int = 1
    style: TextStyle = PLAIN
    sections: tuple[LogSection, ...] = ()

    @property
    def query(self) -> str:
        """Return the state as a query string, for the request of the next part."""
        sections = msgspec.json.encode(self.sections).decode()
        return urlencode({"offset": self.offset, "line": self.line, "style": self.style.classes, "sections": sections})


class LogPart(NamedTuple):
    """Rendered lines, the incomplete line after them, and the state after the complete ones."""

    html: Markup
    rest: Markup
    state: LogState
    skipped: bool = False
    """Whether lines before the first one are not shown."""


def log_state_of_query(query: dict[str, Any]) -> LogState:
    """Return the state that a page sends to get the next part; invalid values are ignored."""
    return LogState(
        number_or_none(str(query.get("offset", ""))) or 0,
        number_or_none(str(query.get("line", ""))) or 1,
        style_of_classes(str(query.get("style", ""))),
        _sections_of_text(str(query.get("sections", ""))),
    )


def _sections_of_text(text: str) -> tuple[LogSection, ...]:
    try:
        sections = msgspec.json.decode(text[:_MAX_STATE], type=list[tuple[str, int, int, bool]])
    except msgspec.DecodeError:
        return ()
    return tuple(LogSection(*section) for section in sections[:_MAX_SECTIONS])


def first_state(size: int, pieces: Callable[[int, int], Iterator[bytes]]) -> LogState:
    """Return the state with which a log of this size is shown: its beginning, or a line near its end."""
    if size <= SHOWN_BYTES:
        return LogState()
    skipped = size - SHOWN_BYTES
    lines, last = 0, -1
    position = 0
    for piece in pieces(0, size):
        count, found = piece.count(b"\n"), piece.find(b"\n", max(skipped - position, 0))
        if position + len(piece) <= skipped or found < 0:
            lines += count
        else:
            lines += piece.count(b"\n", 0, found + 1)
            last = position + found + 1
            break
        position += len(piece)
    return LogState(last, lines + 1) if last >= 0 else LogState(skipped, lines + 1)


def render_log(data: bytes, state: LogState, *, complete: bool) -> LogPart:
    """Render the bytes that follow a state; ``complete`` if the job ended, so that the last line is complete too."""
    end = len(data) if complete else data.rfind(b"\n") + 1
    if not end and len(data) >= PART_BYTES:
        end = len(data)
    rows = _Rows(state)
    lines = data[:end].decode(errors="replace").split("\n")
    for line in lines[:-1]:
        rows.add(line)
    if lines[-1]:
        rows.add(lines[-1], skip_empty=True)
    rest = _Rows(rows.state(state.offset + end))
    tail = data[end:]
    if tail:
        rest.add(tail.decode(errors="ignore"), skip_empty=True)
    return LogPart(rows.html(), rest.html(), rows.state(state.offset + end), state.offset > 0)


def last_lines(data: bytes, count: int) -> str:
    """Return the last lines of a log as plain text."""
    text = _MARKER.sub("", data.decode(errors="replace"))
    lines = [plain_text(line) for line in text.rstrip("\r\n").split("\n")[-count:]]
    return "\n".join(line[:1000] for line in lines).strip("\n")


class _Rows:
    """Rows of one part."""

    def __init__(self, state: LogState) -> None:
        self._line = state.line
        self._style = state.style
        self._sections = list(state.sections)
        self._rows: list[str] = []
        self._headers: dict[int, int] = {}
        """Index of the row that opened a section, by the number of its line."""

    def state(self, offset: int) -> LogState:
        """Return the state after the rows."""
        return LogState(offset, self._line, self._style, tuple(self._sections))

    def html(self) -> Markup:
        """Return the rows."""
        return Markup("".join(self._rows))  # noqa: S704 - Each row has been escaped.

    def add(self, line: str, *, skip_empty: bool = False) -> None:
        """Add the row of a line, unless it has only markers of sections, or nothing and ``skip_empty``."""
        line, opened, marked = self._without_markers(_STAMP.sub("", line, count=1))
        html, self._style = render_line(line, self._style)
        if opened is not None:
            self._headers[opened.line] = len(self._rows)
            self._rows.append(self._header(opened, html or escape(opened.name.replace("_", " "))))
        elif html or not (marked or skip_empty):
            self._rows.append(self._row(html))
        self._line += 1

    def _without_markers(self, line: str) -> tuple[str, LogSection | None, bool]:
        """Apply the markers of a line; return the remaining text, the section that it opens, and if it had any."""
        opened: LogSection | None = None
        if "section_" not in line:
            return line, None, False
        marked = False
        for marker in _MARKER.finditer(line):
            kind, moment, name = marker[1], int(marker[2]), marker[3]
            marked = True
            if kind == "start" and len(self._sections) < _MAX_SECTIONS:
                opened = LogSection(name, moment, self._line, "collapsed=true" in (marker[4] or ""))
                self._sections = [section for section in self._sections if section.line != self._line]
                self._sections.append(opened)
            elif kind == "end":
                self._end(name, moment)
                opened = None if opened is not None and opened.name == name else opened
        return _MARKER.sub("", line), opened, marked

    def _end(self, name: str, moment: int) -> None:
        """Close a section and those within it; its header gets the duration."""
        names = [section.name for section in self._sections]
        if name not in names:
            return
        section = self._sections[names.index(name)]
        del self._sections[names.index(name) :]
        row = self._headers.get(section.line)
        if row is not None:
            time = f'<span class="log-time">{duration(max(moment - section.began, 0))}</span></div>'
            self._rows[row] = self._rows[row].removesuffix("</div>") + time

    def _row(self, html: str) -> str:
        number, inside = self._line, _inside(self._sections)
        return (
            f'<div class="log-line" id="L{number}"{inside}><a href="#L{number}">{number}</a><span>{html}</span></div>'
        )

    def _header(self, section: LogSection, html: str) -> str:
        number, inside = self._line, _inside(each for each in self._sections if each.line != section.line)
        expanded = "false" if section.collapsed else "true"
        fold = f'data-fold="{section.line}" aria-expanded="{expanded}"'
        button = f'<button type="button" class="plain" {fold}>{html}</button>'
        return (
            f'<div class="log-line log-section" id="L{number}"{inside}>'
            f'<a href="#L{number}">{number}</a><span>{button}</span></div>'
        )


def _inside(sections: Any) -> str:
    numbers = " ".join(str(section.line) for section in sections)
    return f' data-in="{numbers}"' if numbers else ""
