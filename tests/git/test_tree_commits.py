"""Last commits of all paths of a tree, compared with git."""

import random
import threading

import pytest

from ingot.core.offload import forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.history import folder_commits, last_commit, tree_commits
from ingot.git.history.folder_commits import cached_last_commits, last_commits
from ingot.git.history.last_commit import last_commit_id
from ingot.git.history.tree_commits import cached_last_commit, cached_tree_commits, find_tree_commits
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import git
from tests.git_history import History, random_branches


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def _by_git(repository: Repository, commit: str) -> dict[bytes, str]:
    paths = git(repository.path, "ls-tree", "-r", "-t", "-z", "--name-only", commit).split("\0")[:-1]
    asked = ("--literal-pathspecs", "log", "-1", "--format=%H", commit, "--")
    return {path.encode(): git(repository.path, *asked, path) for path in paths}


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_match_git(repository: Repository, seed: int) -> None:
    """Random branches and merges; each walk also reuses the results of earlier ones."""
    chance = random.Random(seed)
    forged = "\x01" + "0" * 40
    names = ["a", "b/c", "b/d", "*", ":(top)a", "-x", "ünï", "e/f/g", "\n", forged, "b/\nline"]
    history, marks = random_branches(chance, names, 100)
    commits = history.into(repository)

    for mark in [*chance.sample(marks[:-1], 3), marks[-1]]:
        assert find_tree_commits(repository, commits[mark]) == _by_git(repository, commits[mark])


def _long_history(repository: Repository) -> tuple[dict[int, str], int, int]:
    """Create ten old files in a folder and many later commits; return their ids, the first and the last."""
    history = History()
    first = history.commit(files={f"old/{number}": "x" for number in range(10)})
    for number in range(60):
        last = history.commit(files={"busy": str(number)})
    return history.into(repository), first, last


def _wait_for_walks() -> None:
    for thread in threading.enumerate():
        if thread.name == "last-commits":
            thread.join(60)


def test_repeated_lookups_of_old_files_start_a_walk_for_all(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits, first, last = _long_history(repository)

    for number in range(8):
        assert cached_tree_commits(repository, commits[last]) is None
        assert last_commit_id(repository, commits[last], b"old/%d" % number) == commits[first]
    _wait_for_walks()
    with forbid_blocking():
        assert last_commit_id(repository, commits[last], b"old/9") == commits[first]
        assert last_commit_id(repository, commits[last], b"busy") == commits[last]
    assert cached_last_commits(repository, commits[last], b"", [b"old", b"busy"]) == {
        b"old": commits[first],
        b"busy": commits[last],
    }

    def fail(*_: object) -> str:
        raise AssertionError("It was known")

    monkeypatch.setattr(last_commit, "log_last_commit", fail)
    more = History()
    mark = more.commit(files={"busy": "once more"}, parents=(commits[last],))
    after = more.into(repository)[mark]
    assert last_commit_id(repository, after, b"old/8") == commits[first]
    assert last_commits(repository, after, b"old", [b"7", b"9"]) == {b"7": commits[first], b"9": commits[first]}


def test_a_slow_folder_is_cached_for_the_next_request(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_commits, "_WALK_SECONDS", 0.0)
    monkeypatch.setattr(folder_commits, "_GIT_LOG_SECONDS", 0.0)
    commits, first, last = _long_history(repository)
    names = [b"%d" % number for number in range(10)]

    assert last_commits(repository, commits[last], b"old", names) == dict.fromkeys(
        names, folder_commits.NOT_FOUND_IN_TIME
    )
    _wait_for_walks()
    assert last_commits(repository, commits[last], b"old", names) == dict.fromkeys(names, commits[first])


def test_commits_beyond_the_limit_are_left_to_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_commits, "_WALK_SECONDS", -1.0)
    commits, first, last = _long_history(repository)

    assert find_tree_commits(repository, commits[last]) == {b"busy": commits[last]}
    assert cached_last_commit(repository, commits[last], b"old/1") is None
    assert last_commit_id(repository, commits[last], b"old/1") == commits[first]


def test_a_too_large_tree_is_not_retried(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_commits, "_MAX_TREE_BYTES", 10)
    commits, first, last = _long_history(repository)

    for number in range(10):
        assert last_commit_id(repository, commits[last], b"old/%d" % number) == commits[first]
        _wait_for_walks()
    assert cached_tree_commits(repository, commits[last]) == {}
