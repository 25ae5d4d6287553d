"""Choice of the tests that run on PostgreSQL too: together they run every statement that the whole suite runs.

``make test`` records the statements of both runs by test function. If one of the product ran on SQLite only, it runs a
test that executes it on PostgreSQL too; ``make cover`` then adds the test to the list, and ``make cover ANEW=1``
chooses the whole list again by the time that each test took. Some statements depend on what other tests have left in
the database, or belong to one engine: those that still did not run are printed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.statement_record import FOLDER

CHOSEN = Path("tests/postgresql_files.txt")
ALWAYS = (
    "tests/api/groups/test_list.py",
    "tests/api/issues/test_hostile_texts.py",
    "tests/api/issues/test_list.py",
    "tests/api/kernel/test_invalid_paths.py",
    "tests/api/kernel/test_large_numbers.py",
    "tests/api/kernel/test_long_texts.py",
    "tests/api/kernel/test_paging.py",
    "tests/api/kernel/test_parameters.py",
    "tests/api/merge_requests/test_list.py",
    "tests/api/projects/test_list.py",
    "tests/api/races",
    "tests/api/repository/test_concurrent_commits.py",
    "tests/api/search",
    "tests/api/users/test_list.py",
    "tests/ci/runner_protocol",
    "tests/cluster",
    "tests/db",
    "tests/jobs",
    "tests/lfs/test_locks.py",
    "tests/policy",
    "tests/transport/test_concurrency.py",
)
"""Races, locks, permissions as SQL conditions, migrations; values and orders that the databases treat differently."""
BROWSER_TESTS = "tests/browser"
"""They take longest and run on SQLite only; statements that no other test runs are not required."""
EMBEDDED_TABLES = ("row_versions", "sqlite_master")
"""Tables that only SQLite has."""


class RecordedTest:
    """Seconds and statements of a test function with all its parameters."""

    def __init__(self) -> None:
        self.seconds = 0.01
        self.statements: set[str] = set()


def read_records(database: str) -> dict[str, RecordedTest]:
    """Return what the processes of the last run on a database have recorded, by test function."""
    records: dict[str, RecordedTest] = {}
    for path in FOLDER.glob(f"{database}-*.json"):
        recorded = json.loads(path.read_text())
        texts: list[str] = recorded["texts"]
        required = {number for number, text in enumerate(texts) if not any(t in text for t in EMBEDDED_TABLES)}
        for test, shown in recorded["tests"].items():
            if test.startswith(BROWSER_TESTS):
                continue
            record = records.setdefault(test, RecordedTest())
            record.seconds += shown["seconds"]
            record.statements |= {texts[number] for number in shown["statements"] if number in required}
    return records


def choose_tests(records: dict[str, RecordedTest], missing: set[str]) -> list[str]:
    """Return tests that run the missing statements, by the number of new ones per second."""
    chosen: list[str] = []
    while missing:
        best = max(records, key=lambda test: (len(records[test].statements & missing) / records[test].seconds, test))
        chosen.append(best)
        missing = missing - records[best].statements
    return sorted(chosen)


def all_statements(records: dict[str, RecordedTest]) -> set[str]:
    """Return the statements of all tests."""
    return set().union(*(record.statements for record in records.values()))


def is_listed(test: str, listed: set[str]) -> bool:
    """Return whether a list of tests, files and folders contains a test."""
    file = test.partition("::")[0]
    return bool(listed & {test, file, *map(str, Path(file).parents)})


def write_choice(sqlite: dict[str, RecordedTest], listed: set[str]) -> None:
    """Write the list of tests that run on PostgreSQL: those given, and others whose statements they lack."""
    run = {test: record for test, record in sqlite.items() if is_listed(test, listed)}
    chosen = choose_tests(sqlite, all_statements(sqlite) - all_statements(run))
    CHOSEN.write_text("\n".join(sorted({*listed, *chosen})) + "\n")


def run_on_postgresql(tests: list[str]) -> int:
    """Run tests and record their statements; return the status."""
    command = [sys.executable, "-m", "pytest", "-n", "4", "--dist", "loadfile", "-p", "tests.statement_record", *tests]
    environment = {**os.environ, "INGOT_TEST_DATABASE": "postgresql"}
    return subprocess.run(command, env=environment, check=False).returncode


def compare() -> int:
    """Run on PostgreSQL the tests whose statements ran on SQLite only, and list the statements that still did not."""
    sqlite = read_records("sqlite")
    missing = all_statements(sqlite) - all_statements(read_records("postgresql"))
    if not missing:
        return 0
    tests = choose_tests(sqlite, missing)
    sys.stdout.write(
        f"{len(missing)} statements ran on SQLite only; `make cover` adds their tests: {' '.join(tests)}\n"
    )
    status = run_on_postgresql(tests)
    missing -= all_statements(read_records("postgresql"))
    for text in sorted(missing):
        test = next(test for test, record in sqlite.items() if text in record.statements)
        sys.stdout.write(f"Ran on SQLite only, in {test}:\n{text}\n\n")
    return status


if __name__ == "__main__":
    if sys.argv[1:] == ["add"]:
        write_choice(read_records("sqlite"), {*CHOSEN.read_text().split(), *ALWAYS})
    elif sys.argv[1:] == ["anew"]:
        write_choice(read_records("sqlite"), set(ALWAYS))
    else:
        raise SystemExit(compare())
