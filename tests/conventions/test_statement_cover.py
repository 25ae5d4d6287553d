"""Tests of the list of tests that run on PostgreSQL."""

import re
from pathlib import Path

from tests.statement_cover import ALWAYS, CHOSEN, RecordedTest, choose_tests, is_listed


def test_the_list_names_existing_tests() -> None:
    """A test that is renamed or moved is renamed in the list too."""
    lines = CHOSEN.read_text().splitlines()
    missing = []
    for line in lines:
        path, *_, name = [*line.split("::"), ""] if "::" not in line else line.split("::")
        exists = Path(path).exists()
        if not exists or (name and not re.search(rf"\bdef {name}\(", Path(path).read_text())):
            missing.append(line)
    assert missing == []
    assert lines == sorted(set(lines))
    assert set(ALWAYS) <= set(lines)


def _record(seconds: float, *statements: str) -> RecordedTest:
    record = RecordedTest()
    record.seconds, record.statements = seconds, set(statements)
    return record


def test_the_cover_prefers_more_statements_per_second() -> None:
    records = {"slow": _record(9, "a", "b", "c"), "fast": _record(1, "a", "b"), "other": _record(1, "c")}
    assert choose_tests(records, {"a", "b", "c"}) == ["fast", "other"]
    assert choose_tests(records, set()) == []


def test_a_folder_or_file_lists_its_tests() -> None:
    test = "tests/api/races/test_a.py::test_x"
    for listed in (test, "tests/api/races/test_a.py", "tests/api/races", "tests/api"):
        assert is_listed(test, {listed})
    assert not is_listed(test, {"tests/api/races/test_a.py::test_y", "tests/api/race"})
