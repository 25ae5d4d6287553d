"""The comparison of locked versions with advisories: from the service, from the dated list, and without either."""

import json
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conventions.dependency_audit import (
    MAX_AGE_DAYS,
    AdvisoryList,
    affected_ranges,
    audit,
    listed_findings,
    locked_versions,
    read_advisories,
    service_findings_or_none,
    write_advisories,
)

TODAY = date(2026, 11, 16)
LIST = AdvisoryList(
    TODAY, {"PYSEC-2": "not used"}, {"jinja2": {"PYSEC-1": ["<2.0", ">=3.0,<3.1.6"], "PYSEC-2": ["<=3.1.5"]}}
)


def test_no_locked_version_is_in_the_list() -> None:
    advisories = read_advisories()
    errors, _ = audit(advisories, None, locked_versions(), advisories.date)
    assert errors == []
    assert len(advisories.affected) > 10, "the list holds the advisories of the packages that have any"


def test_every_line_of_the_lock_files_is_read() -> None:
    locked = locked_versions()
    assert len(locked) > 80
    assert {"sqlalchemy", "psycopg", "pytest"} <= {name for name, _ in locked}
    assert not any(";" in version or "\\" in version for _, version in locked)


@pytest.mark.parametrize(
    ("version", "ids"),
    [("1.9", ["PYSEC-1", "PYSEC-2"]), ("2.0", ["PYSEC-2"]), ("3.1.5", ["PYSEC-1", "PYSEC-2"]), ("3.1.6", [])],
)
def test_affected_versions(version: str, ids: list[str]) -> None:
    locked = {("jinja2", version), ("other", "1.0")}
    assert listed_findings(LIST, locked) == [("jinja2", version, each) for each in ids]
    errors, warnings = audit(LIST, None, locked, TODAY)
    assert [error.split(".")[0].startswith("jinja2") for error in errors] == [True] * ids.count("PYSEC-1")
    assert len(warnings) == 1, "the list was used"


def test_an_old_list_is_a_warning() -> None:
    old = TODAY + timedelta(days=MAX_AGE_DAYS + 1)
    errors, warnings = audit(LIST, None, set(), old)
    assert (errors, len(warnings)) == ([], 2)
    assert audit(LIST, [], set(), old) == ([], []), "the service needs no list"


def _program(folder: Path, text: str) -> list[str]:
    script = folder / "program.py"
    script.write_text(text)
    return [sys.executable, str(script)]


def test_findings_of_the_service(tmp_path: Path) -> None:
    report = {
        "dependencies": [
            {"name": "Jinja2", "version": "3.1.5", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]},
            {"name": "other", "version": "1.0", "vulns": []},
        ]
    }
    program = _program(tmp_path, f"import sys\nprint({json.dumps(report)!r})\nsys.exit(1)\n")
    findings = service_findings_or_none(program)
    assert findings == [("jinja2", "3.1.5", "PYSEC-1"), ("jinja2", "3.1.5", "PYSEC-2")]
    errors, warnings = audit(LIST, findings, set(), TODAY)
    assert errors == ["jinja2 3.1.5 is affected by PYSEC-1. Update it with: make lock"]
    assert warnings == []


@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit('no route to host')",
        "print('<html>')",
        """print('{"dependencies": [{"name": "jinja2", "skip_reason": "not found"}]}')""",
        "import time\ntime.sleep(600)",
    ],
)
def test_a_service_that_cannot_be_reached(tmp_path: Path, text: str) -> None:
    """It fails, a proxy or a mirror answers, or nothing responds: the check goes on with the list."""
    assert service_findings_or_none(_program(tmp_path, text), seconds=1.0) is None
    assert service_findings_or_none([str(tmp_path / "missing")]) is None


def _entry(*ranges: Any, versions: Any = (), name: str = "Jinja2") -> dict[str, Any]:
    affected = {"package": {"name": name}, "ranges": list(ranges), "versions": list(versions)}
    return {"id": "PYSEC-1", "affected": [affected]}


def _range(*events: dict[str, str], kind: str = "ECOSYSTEM") -> dict[str, Any]:
    return {"type": kind, "events": list(events)}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (_entry(_range({"introduced": "0"}, {"fixed": "3.1.6"})), ["<3.1.6"]),
        (_entry(_range({"introduced": "2"}, {"fixed": "2.1"}, {"introduced": "3"})), [">=2,<2.1", ">=3"]),
        (_entry(_range({"introduced": "1"}, {"last_affected": "2"})), [">=1,<=2"]),
        (_entry(_range({"introduced": "abc"}, kind="GIT"), versions=["1.0", "1.1"]), ["==1.0", "==1.1"]),
        (_entry(_range({"introduced": "0"}), name="other"), []),
    ],
)
def test_ranges_of_the_database(entry: dict[str, Any], expected: list[str]) -> None:
    assert affected_ranges(entry, "jinja2") == expected


def _yaml(entry: dict[str, Any]) -> str:
    """Return the entry with one line for each field."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in entry.items())


def test_the_list_is_written_from_a_checkout(tmp_path: Path) -> None:
    """Withdrawn advisories are left out, and accepted ids stay."""
    folder, path = tmp_path / "vulns" / "jinja2", tmp_path / "advisories.toml"
    folder.mkdir(parents=True)
    path.write_text('date = 2026-01-01\n[accepted]\n"PYSEC-9" = "not \\"used\\""\n')
    entry = _entry(_range({"introduced": "0"}, {"fixed": "3.1.6"}))
    (folder / "PYSEC-2025-1.yaml").write_text(_yaml({**entry, "modified": "2026-11-16T01:02:03Z"}))
    withdrawn = {**entry, "modified": "2026-02-01T00:00:00Z", "withdrawn": "2026-02-01T00:00:00Z"}
    (folder / "PYSEC-2025-2.yaml").write_text(_yaml(withdrawn))
    write_advisories(tmp_path, path)
    written = read_advisories(path)
    assert written == AdvisoryList(TODAY, {"PYSEC-9": 'not "used"'}, {"jinja2": {"PYSEC-2025-1": ["<3.1.6"]}})
