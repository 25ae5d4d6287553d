"""Last commit of a path, compared with git."""

import random

import pytest

from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.history import last_commit
from ingot.git.history.commits import commit_id_or_none
from ingot.git.history.last_commit import last_commit_id
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import git
from tests.git_history import History, random_branches


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def _by_git(repository: Repository, commit: str, path: str) -> str:
    return git(repository.path, "--literal-pathspecs", "log", "-1", "--format=%H", commit, "--", path)


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_match_git(repository: Repository, seed: int) -> None:
    """Random branches and merges; every path, from many commits."""
    chance = random.Random(seed)
    names = ["a", "b/c", "b/d", "*", ":(top)a", "-x", "ünï", "e/f/g"]
    history, marks = random_branches(chance, names, 150)
    commits = history.into(repository)

    for mark in chance.sample(marks, 20) + marks[-1:]:
        for name in names:
            if _has(repository, commits[mark], name):
                found = last_commit_id(repository, commits[mark], name.encode())
                assert found == _by_git(repository, commits[mark], name), (mark, name)


def _has(repository: Repository, commit: str, name: str) -> bool:
    return bool(git(repository.path, "--literal-pathspecs", "ls-tree", commit, "--", name))


def test_git_runs_once_for_old_commits(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_commit, "_INLINE_SECONDS", 60.0)
    history = History()
    first = history.commit(files={"old": "x", "sub/old": "x"})
    for number in range(300):
        history.commit(files={"busy": str(number)})
    commits = history.into(repository)
    run_housekeeping(repository.path)
    tip = commit_id_or_none(repository, "HEAD")
    assert tip is not None
    with forbid_blocking(), pytest.raises(WouldBlock):
        last_commit_id(repository, tip, b"old")
    assert last_commit_id(repository, tip, b"old") == commits[first]

    def fail(*_: object) -> str:
        raise AssertionError("It was known")

    monkeypatch.setattr(last_commit, "log_last_commit", fail)
    with forbid_blocking():
        assert last_commit_id(repository, tip, b"old") == commits[first]
    more = History()
    for number in range(5):
        more.commit(files={"busy": f"more {number}"}, parents=(tip,) if number == 0 else None)
    after = more.into(repository)[5]
    with forbid_blocking():
        assert last_commit_id(repository, after, b"old") == commits[first]


def test_the_root_is_changed_by_every_commit(repository: Repository) -> None:
    history = History()
    history.commit(files={"a": "x"})
    commits = history.into(repository)

    assert last_commit_id(repository, commits[1], b"") == commits[1]
