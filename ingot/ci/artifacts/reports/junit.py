"""Parser of JUnit reports, which reads XML as a stream and refuses entity declarations."""

from collections.abc import Iterator
from pyexpat import ExpatError
from typing import BinaryIO, Literal

import msgspec

from ingot.ci.artifacts.reports.content import InvalidReport, read_members
from ingot.ci.artifacts.reports.xml_stream import read_xml
from ingot.ci.artifacts.tables import ArtifactFormat

MAX_BYTES = 32 * 2**20
MAX_TEST_CASES = 100_000
MAX_OUTPUT_BYTES = 16 * 2**20
"""Largest size of all outputs together; what exceeds it is left out."""
MAX_NAME_LENGTH = 1024
MAX_DEPTH = 64
_OUTPUT_TAGS = {"system-out": "System Out:\n\n", "system-err": "System Err:\n\n"}

JunitStatus = Literal["success", "failed", "error", "skipped"]
_STATUS_TAGS: dict[str, JunitStatus] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_PRECEDENCE: dict[JunitStatus, int] = {"success": 0, "skipped": 1, "error": 2, "failed": 3}


class JunitCase(msgspec.Struct, frozen=True):
    """A test case of a report."""

    status: JunitStatus
    suite: str
    name: str
    classname: str | None
    file: str | None
    time: float
    output: str | None


class JunitReport(msgspec.Struct, frozen=True):
    """Test cases of a report, or the reason why it could not be read."""

    cases: tuple[JunitCase, ...] = ()
    error: str | None = None

    @property
    def memory_size(self) -> int:
        """Return the approximate number of bytes in memory."""
        texts = sum(len(case.name) + len(case.suite) + len(case.output or "") for case in self.cases)
        return 250 * len(self.cases) + texts


def parse_junit(file: BinaryIO, file_format: ArtifactFormat) -> JunitReport:
    """Return the test cases of a report; a report that cannot be read gives an error instead."""
    reader = _JunitReader()
    try:
        for member in read_members(file, file_format, MAX_BYTES):
            reader.read(member)
    except ExpatError as error:
        return JunitReport(error=f"JUnit XML parsing failed: {error}")
    except InvalidReport as error:
        return JunitReport(error=f"JUnit data parsing failed: {error}")
    return JunitReport(tuple(reader.cases.values()))


class _JunitReader:
    """Collector of test cases from the events of the XML parser."""

    def __init__(self) -> None:
        self.cases: dict[tuple[str, ...], JunitCase] = {}
        self._open: list[str] = []
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._status: JunitStatus = "success"
        self._message = ""
        self._texts: dict[str, list[str]] = {}
        self._output_left = MAX_OUTPUT_BYTES

    def read(self, chunks: Iterator[bytes]) -> None:
        """Read one XML document."""
        self._open, self._suites, self._case = [], [], None
        read_xml(chunks, self._start, self._end, self._add_text)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if len(self._open) > MAX_DEPTH:
            raise InvalidReport("elements are nested too deeply")
        if tag == "testsuite":
            self._suites.append(attributes.get("name", "")[:MAX_NAME_LENGTH])
        elif tag == "testcase" and self._case is None and len(self._open) > 1:
            self._case = attributes
            self._status, self._message, self._texts = "success", "", {}
        elif tag in _STATUS_TAGS and self._case is not None and self._open[-2] == "testcase":
            self._note_status(_STATUS_TAGS[tag], attributes.get("message", ""))

    def _note_status(self, status: JunitStatus, message: str) -> None:
        """Set the status of the open case; a failure takes precedence over an error, which does over a skip."""
        if _PRECEDENCE[status] > _PRECEDENCE[self._status]:
            self._status, self._message = status, message

    def _end(self, tag: str) -> None:
        self._open.pop()
        if tag == "testsuite" and self._suites:
            self._suites.pop()
        elif tag == "testcase" and self._case is not None and "testcase" not in self._open:
            self._finish_case(self._case)
            self._case = None

    def _add_text(self, text: str) -> None:
        if self._case is None or self._output_left <= 0 or len(self._open) < 2 or self._open[-2] != "testcase":
            return
        tag = self._open[-1]
        if tag in _STATUS_TAGS or tag in _OUTPUT_TAGS:
            self._texts.setdefault(tag, []).append(text[: self._output_left])
            self._output_left -= len(text)

    def _finish_case(self, attributes: dict[str, str]) -> None:
        if len(self.cases) >= MAX_TEST_CASES:
            raise InvalidReport(f"number of test cases exceeded the limit of {MAX_TEST_CASES}")
        suite = self._suites[-1] if self._suites else ""
        name, classname = attributes.get("name", "(No name)"), attributes.get("classname", "")
        case = JunitCase(
            self._status,
            suite,
            name[:MAX_NAME_LENGTH],
            classname[:MAX_NAME_LENGTH] or None,
            attributes.get("file", "")[:MAX_NAME_LENGTH] or None,
            _seconds(attributes.get("time", "")),
            self._output(),
        )
        self.cases[self._status, suite, classname, name] = case

    def _output(self) -> str | None:
        if self._status == "success":
            return None
        reasons = ["".join(self._texts[tag]) for tag in _STATUS_TAGS if tag in self._texts]
        reason = "\n\n".join(reasons).strip() or self._message
        if self._status == "skipped":
            return reason or None
        outputs = [title + "".join(self._texts[tag]) for tag, title in _OUTPUT_TAGS.items() if tag in self._texts]
        return "\n\n".join(filter(None, [reason, *outputs])) or None


def _seconds(text: str) -> float:
    try:
        seconds = float(text.replace(",", "")[:32] or 0)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < 1e9 else 0.0
