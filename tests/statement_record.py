"""Plugin of pytest that records which statements each test function lets the database run, and how long it takes.

Those of PostgreSQL are recorded as SQLite takes them, so that the records of both databases can be compared.
"""

import inspect
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from ingot.core.db.compiled_statements import CompiledStatement, StatementCache
from ingot.core.db.connection import Connection

FOLDER = Path("build/statements")


class StatementRecord:
    """Statements and seconds of the test functions that a process runs."""

    def __init__(self) -> None:
        self._test = ""
        self._texts: dict[str, str] = {}
        self._statements: defaultdict[str, set[str]] = defaultdict(set)
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def observe(self) -> None:
        """Record what all connections execute from now on."""
        compile_statement = StatementCache._compile
        sqlite = StatementCache(SQLiteDialect_pysqlite(paramstyle="named"), embedded=True)

        def compile_translated(cache: StatementCache, *arguments: Any) -> CompiledStatement:
            compiled = compile_statement(cache, *arguments)
            translated = compiled if cache.embedded else compile_statement(sqlite, *arguments)
            # Another thread may execute the statement before this, since the cache has it already.
            self._texts[compiled.text] = translated.text
            return compiled

        StatementCache._compile = compile_translated  # type: ignore[method-assign,assignment] # Stands in for it.
        for name in ("_execute", "_execute_later", "_run_many"):
            self._observe_method(name)

    def _observe_method(self, name: str) -> None:
        execute = getattr(Connection, name)

        def execute_observed(connection: Connection, compiled: CompiledStatement, values: Any) -> Any:
            if compiled.text not in self._statements[self._test] and not _runs_for_a_test():
                self._statements[self._test].add(compiled.text)
            return execute(connection, compiled, values)

        setattr(Connection, name, execute_observed)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Name the function that begins; statements of other threads are counted for it too."""
        self._test = nodeid.partition("[")[0]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the duration of a phase of a test."""
        self._seconds[self._test] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the record of this process: the texts, and their numbers by test."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        database = os.environ.get("INGOT_TEST_DATABASE", "sqlite")
        numbers: dict[str, int] = {}
        tests = {
            test: {
                "seconds": seconds,
                "statements": sorted(
                    {numbers.setdefault(self._texts[text], len(numbers)) for text in self._statements[test]}
                ),
            }
            for test, seconds in self._seconds.items()
            if test
        }
        record = {"texts": list(numbers), "tests": tests}
        (FOLDER / f"{database}-{os.getpid()}.json").write_text(json.dumps(record))


def _runs_for_a_test() -> bool:
    """Return whether a test, and not the product, has built the statement: it has called the connection's method."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"] in (__name__, Connection.__module__):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals["__name__"]).startswith("tests.")


def pytest_configure(config: pytest.Config) -> None:
    """Observe the processes that run tests."""
    if not config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        record = StatementRecord()
        record.observe()
        config.pluginmanager.register(record)
