"""Lines of a file in a patch, and commits protected from garbage collection."""

from pathlib import Path

import pytest

from ingot.git.core.layout import make_bare_repository
from ingot.git.core.repository import Repository
from ingot.git.diffs.line_positions import Side, changes_line
from ingot.git.writing.pinned_commits import pin_commits
from tests.git_history import History, run

PATCH = (
    "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ above\n one\n--- two\n+++ deux\n three\n"
    "@@ -20 +20,2 @@\n+before\n twenty\n\\ No newline at end of file\n"
)


@pytest.mark.parametrize(
    ("number", "side", "found"),
    [
        (1, "new", False),
        (2, "new", True),
        (2, "old", True),
        (3, "new", False),
        (20, "new", True),
        (20, "old", False),
        (21, "new", False),
        (22, "new", False),
        (0, "new", False),
        (0, "old", False),
    ],
)
def test_only_changed_lines_are_found(number: int, side: Side, found: bool) -> None:
    assert changes_line(PATCH, number, side) is found


@pytest.mark.parametrize("patch", ["", "Binary files a/x and b/x differ\n", "--- a/x\n+++ /dev/null\n"])
def test_a_patch_without_lines_has_none(patch: str) -> None:
    assert not changes_line(patch, 0, "new")
    assert not changes_line(patch, 1, "old")


def test_a_protected_commit_survives_and_is_hidden(tmp_path: Path) -> None:
    make_bare_repository(tmp_path, b"refs/heads/master")
    repository = Repository(tmp_path)
    history = History()
    history.commit(files={"a": "1"})
    history.commit("gone", files={"a": "2"}, parents=(1,))
    oid = history.into(repository)[2]
    for _ in range(2):
        pin_commits(repository, [oid])
    run(tmp_path, "pack-refs", "--all")
    pin_commits(repository, [oid])
    run(tmp_path, "update-ref", "-d", "refs/heads/gone")
    run(tmp_path, "gc", "--prune=now", "--quiet")
    assert run(tmp_path, "cat-file", "-t", oid) == "commit"
    assert "keep" not in run(tmp_path, "ls-remote", ".")
