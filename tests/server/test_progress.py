"""Progress output of long commands."""

import pytest

from ingot.cli.progress import ProgressReport, progress_line

LINES = [
    ("checking every file", 0, 0, "checking every file"),
    ("table users", 0, 4, f"[{' ' * 24}] 0/4 table users"),
    ("table users", 3, 4, f"[{'#' * 18}{' ' * 6}] 3/4 table users"),
    ("repository of a/b", 9, 4, f"[{'#' * 24}] 9/4 repository of a/b"),
    ("uploads/\x1b[2Jé", 0, 0, "uploads/?[2Jé"),
]


@pytest.mark.parametrize(("what", "done", "of", "line"), LINES)
def test_progress_lines(what: str, done: int, of: int, line: str) -> None:
    assert progress_line(what, done, of) == line


def test_a_log_gets_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    """With the counts, and an estimate from the speed so far; nothing is printed in between."""
    times = iter([0.0, 1.0, 10.0, 15.0, 19.9, 20.0, 600.0])
    report = ProgressReport(lambda: next(times))
    for done, of in ((1, 100), (10, 100), (40, 100), (45, 100), (0, 0), (9, 1000)):
        report.show("team/app: issues", done, of)
    assert capsys.readouterr().err.splitlines() == [
        "team/app: issues: 10 of 100, about 2 min left",
        "team/app: issues: 0 done",
        "team/app: issues: 9 of 1000, about 18 h left",
    ]
