"""Response structs of artifacts and test reports."""

from typing import Literal

from ingot.ci.artifacts.archives import TreeItem
from ingot.ci.artifacts.reports.junit import JunitCase
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.artifacts.test_reports import JunitSuite
from ingot.core.api.views import View


class ArtifactView(View):
    """A file of a job."""

    file_type: str
    size: int
    filename: str
    file_format: str


class ArchiveEntryView(View):
    """A file or folder of an archive; a folder has neither size nor mode."""

    name: str
    path: str
    type: Literal["file", "directory"]
    size: int | None
    mode: str | None


class CoverageReportView(View):
    """Covered lines of the files that a merge request changes, and the coverage of all files."""

    files: dict[str, dict[int, int]]
    covered_lines: int
    total_lines: int
    coverage: float | None
    """Percentage of covered lines; null without a report."""


class TestCaseView(View):
    """A test case."""

    status: str
    name: str
    classname: str | None
    file: str | None
    execution_time: float
    system_output: str | None
    stack_trace: None = None
    recent_failures: None = None


class TestSuiteView(View):
    """Test cases of a job."""

    name: str
    total_time: float
    total_count: int
    success_count: int
    failed_count: int
    skipped_count: int
    error_count: int
    suite_error: str | None
    test_cases: list[TestCaseView]


class TestReportView(View):
    """Test cases of a pipeline."""

    total_time: float
    total_count: int
    success_count: int
    failed_count: int
    skipped_count: int
    error_count: int
    test_suites: list[TestSuiteView]


class TestTotalsView(View):
    """Numbers of test cases of a pipeline."""

    time: float
    count: int
    success: int
    failed: int
    skipped: int
    error: int
    suite_error: str | None


class TestSuiteSummaryView(View):
    """Numbers of test cases of a job."""

    name: str
    total_time: float
    total_count: int
    success_count: int
    failed_count: int
    skipped_count: int
    error_count: int
    build_ids: list[int]
    suite_error: str | None


class TestReportSummaryView(View):
    """Numbers of test cases of a pipeline and of its jobs."""

    total: TestTotalsView
    test_suites: list[TestSuiteSummaryView]


def artifact_view(artifact: JobArtifact) -> ArtifactView:
    """Return the view of a file."""
    return ArtifactView(artifact.file_type, artifact.size, artifact.filename, artifact.file_format)


def archive_entry_view(item: TreeItem) -> ArchiveEntryView:
    """Return the view of a file or folder of an archive; bytes of a name that are no UTF-8 are replaced."""
    path = item.path.encode(errors="surrogateescape").decode(errors="replace")
    mode = f"{item.mode:06o}" if item.mode else None
    name = path.rstrip("/").rpartition("/")[2]
    return ArchiveEntryView(name, path, "directory" if item.is_folder else "file", item.size, mode)


def test_report_view(suites: list[JunitSuite]) -> TestReportView:
    """Return the view of all test cases."""
    return TestReportView(*_totals(suites), [_suite_view(suite) for suite in suites])


def test_report_summary_view(suites: list[JunitSuite]) -> TestReportSummaryView:
    """Return the view of the numbers of test cases."""
    error = next((suite.error for suite in suites if suite.error is not None), None)
    summaries = [TestSuiteSummaryView(suite.name, *_totals([suite]), suite.job_ids, suite.error) for suite in suites]
    return TestReportSummaryView(TestTotalsView(*_totals(suites), error), summaries)


def _suite_view(suite: JunitSuite) -> TestSuiteView:
    return TestSuiteView(suite.name, *_totals([suite]), suite.error, [_case_view(case) for case in suite.cases])


def _case_view(case: JunitCase) -> TestCaseView:
    return TestCaseView(case.status, case.name, case.classname, case.file, case.time, case.output)


def _totals(suites: list[JunitSuite]) -> tuple[float, int, int, int, int, int]:
    seconds = round(sum(suite.seconds for suite in suites), 6)
    success, failed, skipped, error = (
        sum(suite.count(status) for suite in suites) for status in ("success", "failed", "skipped", "error")
    )
    return seconds, success + failed + skipped + error, success, failed, skipped, error


def coverage_report_view(files: dict[str, dict[int, int]], covered: int, total: int) -> CoverageReportView:
    """Return the view of the coverage of a merge request."""
    return CoverageReportView(files, covered, total, round(100 * covered / total, 2) if total else None)
