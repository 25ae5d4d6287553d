"""Progress output of long commands."""

import pytest

from ingot.cli.progress import progress_line

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
