"""Test reports of pipelines, from the JUnit reports of their jobs."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ingot.ci.artifacts.reports.junit import JunitCase, JunitReport, parse_junit
from ingot.ci.artifacts.store import ArtifactStore
from ingot.ci.artifacts.tables import JobArtifact
from ingot.core.cache import BoundedCache, declare_cache

# A file never changes: an upload that replaces one gets another key.
_report_cache: BoundedCache[str, JunitReport] = declare_cache("test-reports", share=1)
_PARALLEL_NUMBER = re.compile(r"\s+\d+[\s:/\\]+\d+\s*\Z")
STATUS_ORDER = ("error", "failed", "success", "skipped")


class JunitSuite(NamedTuple):
    """Test cases of the jobs with one name."""

    name: str
    cases: list[JunitCase]
    job_ids: list[int]
    error: str | None

    def count(self, status: str) -> int:
        """Return the number of cases with a status."""
        return sum(case.status == status for case in self.cases)

    @property
    def seconds(self) -> float:
        """Return the time that all cases took."""
        return sum(case.time for case in self.cases)


def read_test_suites(store: ArtifactStore, reports: Iterable[tuple[str, JobArtifact]]) -> list[JunitSuite]:
    """Return the suites of the given reports, each with the name of its job; jobs run in parallel share one."""
    suites: dict[str, JunitSuite] = {}
    for job_name, artifact in reports:
        report = _read_report(store, artifact)
        name = suite_name(job_name)
        suite = suites.get(name, JunitSuite(name, [], [], None))
        suite.job_ids.append(artifact.job_id)
        suite.cases.extend(report.cases)
        suites[name] = suite._replace(error=suite.error or report.error)
    return [_finished(suite) for suite in suites.values()]


def suite_name(job_name: str) -> str:
    """Return the name of the suite of a job: its own without the number of a parallel job."""
    return _PARALLEL_NUMBER.sub("", job_name)


def _finished(suite: JunitSuite) -> JunitSuite:
    """Sort the cases by status and time; a suite with an unreadable report has none."""
    if suite.error is not None:
        return suite._replace(cases=[])
    suite.cases.sort(key=lambda case: (STATUS_ORDER.index(case.status), -case.time))
    return suite


def _read_report(store: ArtifactStore, artifact: JobArtifact) -> JunitReport:
    report = _report_cache.get(artifact.storage_key)
    if report is None:
        try:
            with store.open(artifact.storage_key) as file:
                report = parse_junit(file, artifact.file_format)
        except FileNotFoundError:
            return JunitReport(error="JUnit data parsing failed: the file does not exist")
        _report_cache.put(artifact.storage_key, report, report.memory_size)
    return report
