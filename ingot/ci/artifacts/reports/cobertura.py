"""Parser of coverage reports in the Cobertura format."""

from collections.abc import Iterator
from pyexpat import ExpatError
from typing import BinaryIO, NamedTuple

from ingot.ci.artifacts.reports.content import InvalidReport, read_members
from ingot.ci.artifacts.reports.xml_stream import read_xml
from ingot.ci.artifacts.tables import ArtifactFormat

MAX_BYTES = 32 * 2**20
MAX_LINES = 2_000_000
MAX_DEPTH = 64
MAX_SOURCES = 100
MAX_NAME_LENGTH = 1024
_MAX_HITS = 2**53


class CoberturaReport(NamedTuple):
    """Number of executions of each line, by file name and line number."""

    files: dict[str, dict[int, int]]
    sources: list[str]
    """Folders to which the names of files may be relative."""


def parse_cobertura(file: BinaryIO, file_format: ArtifactFormat) -> CoberturaReport:
    """Return the lines of a report; raise InvalidReport if it cannot be read."""
    reader = _CoberturaReader()
    try:
        for member in read_members(file, file_format, MAX_BYTES):
            reader.read(member)
    except ExpatError as error:
        raise InvalidReport(f"Cobertura XML parsing failed: {error}") from None
    return CoberturaReport(reader.files, reader.sources)


class _CoberturaReader:
    """Collector of lines from the events of the XML parser."""

    def __init__(self) -> None:
        self.files: dict[str, dict[int, int]] = {}
        self.sources: list[str] = []
        self._open: list[str] = []
        self._lines: dict[int, int] | None = None
        self._source = ""
        self._count = 0

    def read(self, chunks: Iterator[bytes]) -> None:
        """Read one XML document."""
        self._open, self._lines = [], None
        read_xml(chunks, self._start, self._end, self._add_text)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if len(self._open) > MAX_DEPTH:
            raise InvalidReport("elements are nested too deeply")
        if tag == "class" and attributes.get("filename"):
            self._lines = self.files.setdefault(attributes["filename"][:MAX_NAME_LENGTH], {})
        elif tag == "line" and self._lines is not None:
            self._add_line(self._lines, attributes.get("number", ""), attributes.get("hits", ""))
        elif tag == "source":
            self._source = ""

    def _add_line(self, lines: dict[int, int], number: str, hits: str) -> None:
        """Note a line; one that several classes or reports contain counts with its sum."""
        if not (number.isascii() and number.isdigit() and hits.isascii() and hits.isdigit()) or len(number) > 9:
            return
        self._count += 1
        if self._count > MAX_LINES:
            raise InvalidReport(f"number of lines exceeded the limit of {MAX_LINES}")
        lines[int(number)] = min(lines.get(int(number), 0) + int(hits[:16]), _MAX_HITS)

    def _end(self, tag: str) -> None:
        self._open.pop()
        if tag == "class":
            self._lines = None
        elif tag == "source" and self._source.strip() and len(self.sources) < MAX_SOURCES:
            self.sources.append(self._source.strip()[:MAX_NAME_LENGTH])

    def _add_text(self, text: str) -> None:
        if self._open and self._open[-1] == "source" and len(self._source) < MAX_NAME_LENGTH:
            self._source += text
