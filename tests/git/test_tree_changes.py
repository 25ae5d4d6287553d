"""Changed files compared in process: as git lists them, and with bounded work."""

import pytest

from ingot.git.core.repository import Repository
from ingot.git.diffs import stats, tree_changes
from ingot.git.diffs.changed_files import changed_files_between, changed_files_by_commit
from ingot.git.diffs.diffs import diff_between
from ingot.git.diffs.stats import commit_stats
from ingot.git.diffs.tree_changes import has_too_many_changes, list_first_changes
from ingot.git.history.commits import NO_OID, read_commits
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.new_objects import NewObjects
from tests.git_history import History, run

OLD = {
    "a": "file",
    "b/c": "1",
    "b/d/e": "same",
    "b.txt": "2",
    "gone/x/y": "3",
    "mode": "4",
    "link": ("120000", "a"),
    "module": ("160000", "1" * 40),
}
NEW = {
    "a/b": "folder",
    "b/c": "changed",
    "b/d/e": "same",
    "b-": "new",
    "b.txt": "2",
    "mode": ("100755", "4"),
    "link": "no link",
    "module": ("160000", "2" * 40),
    "new/x": "5",
    "new.txt": "6",
}


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


@pytest.fixture
def commits(repository: Repository) -> tuple[str, str]:
    history = History()
    history.commit(files=OLD)
    history.commit(files=NEW, removed=("gone/x/y",))
    history.into(repository)
    return run(repository.path, "rev-parse", "master~1"), run(repository.path, "rev-parse", "master")


def _by_git(repository: Repository, *revisions: str) -> list[str]:
    return run(repository.path, "diff-tree", "-r", "--no-renames", "--raw", "--no-abbrev", *revisions).splitlines()


def _in_process(repository: Repository, old: str | None, new: str) -> list[str]:
    lines = []
    for before, after in list_first_changes(repository, old, new, 100):
        modes = " ".join(f"{0 if entry is None else entry.mode:06o}" for entry in (before, after))
        oids = " ".join(NO_OID if entry is None else entry.oid for entry in (before, after))
        status = "A" if before is None else "D" if after is None else "M"
        path = (before or after or pytest.fail("Neither side exists")).path.decode()
        lines.append(f":{modes} {oids} {status}\t{path}")
    return lines


def test_changes_are_those_of_git(repository: Repository, commits: tuple[str, str]) -> None:
    old, new = commits
    for revisions in ((old, new), (new, old), (tree_changes.EMPTY_TREE, new)):
        by_git = [line.replace(" T\t", " M\t") for line in _by_git(repository, *revisions)]
        assert _in_process(repository, *revisions) == by_git
    assert _in_process(repository, None, new) == _in_process(repository, tree_changes.EMPTY_TREE, new)
    assert _in_process(repository, old, old) == []


def test_the_limit_counts_files_and_folders(
    repository: Repository, commits: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, exceeded in ((14, True), (15, False)):
        # The files, and the folders a, b, gone, gone/x and new.
        monkeypatch.setattr(tree_changes, "MAX_CHANGES", limit)
        assert has_too_many_changes(repository, *commits) is exceeded


def test_lists_without_git(repository: Repository, commits: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit each list of changes is as git's, without lines, stats and renames."""
    old, new = commits
    expected = changed_files_between(repository, old, new)
    commit = read_commits(repository, [new])[0]
    monkeypatch.setattr(tree_changes, "MAX_CHANGES", 1)
    assert changed_files_between(repository, old, new) == expected
    assert changed_files_by_commit(repository, [commit]) == {new: expected}
    assert changed_files_between(repository, NO_OID, new)[0].how == "added"
    diff = diff_between(repository, old, new)
    assert diff.overflow and [change.new_path for change in diff.changes] == [change.path for change in expected]
    assert all(change.collapsed and not change.diff for change in diff.changes)
    assert commit_stats(repository, [commit])[0].total == 0


def test_a_timeout_of_git_is_an_overflow(
    repository: Repository, commits: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingot.git.diffs.diffs._SECONDS", -1.0)
    monkeypatch.setattr(stats, "_SECONDS", -1.0)
    diff = diff_between(repository, *commits)
    assert diff.overflow and len(diff.changes) == 10
    both = read_commits(repository, [*commits])
    assert [each.total for each in commit_stats(repository, both)] == [0, 0]
    monkeypatch.undo()
    # The failure is cached for the first commit, which takes all the time.
    assert [each.total > 0 for each in commit_stats(repository, both)] == [False, True]


def _write_bomb(repository: Repository, leaf: str, mode: bytes) -> str:
    objects = NewObjects()
    oid = objects.add("tree", b"100644 file\0" + bytes.fromhex(objects.add("blob", leaf.encode())))
    for _ in range(10):
        oid = objects.add("tree", b"".join(mode + b" d%d\0" % number + bytes.fromhex(oid) for number in range(10)))
    person = "Ada <ada@example.org> 1500000000 +0000"
    commit = objects.add("commit", f"tree {oid}\nauthor {person}\ncommitter {person}\n\nBomb\n".encode())
    objects.store(repository)
    return commit


def test_two_bombs(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair of folders is compared once, also where the trees differ although no file does."""
    monkeypatch.setattr(tree_changes, "_MAX_COUNTED_FOLDERS", 50)
    one, other = (_write_bomb(repository, leaf, b"40000") for leaf in ("1", "2"))
    padded = _write_bomb(repository, "1", b"040000")
    assert has_too_many_changes(repository, one, other)
    assert len(list_first_changes(repository, one, other, 7)) == 7
    assert has_too_many_changes(repository, one, padded)
    assert list_first_changes(repository, one, padded, 7) == []
