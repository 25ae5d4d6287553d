"""Last commits of all entries of a folder, compared with git."""

import random

import pytest

from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.history import folder_commits
from ingot.git.history.folder_commits import NOT_FOUND_IN_TIME, cached_last_commits, last_commits
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import git
from tests.git_history import History, random_branches


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def _names(repository: Repository, commit: str, folder: str) -> list[bytes]:
    return git(repository.path, "ls-tree", "-z", "--name-only", f"{commit}:{folder}").encode().split(b"\0")[:-1]


def _by_git(repository: Repository, commit: str, path: str) -> str:
    return git(repository.path, "--literal-pathspecs", "log", "-1", "--format=%H", commit, "--", path)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("walk_seconds", [5.0, 0.0])
def test_random_histories_match_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, seed: int, walk_seconds: float
) -> None:
    """Random branches and merges; by our own walk, and by the fallback for long walks."""
    monkeypatch.setattr(folder_commits, "_WALK_SECONDS", walk_seconds)
    monkeypatch.setattr(folder_commits, "_GIT_LOG_SECONDS", 60.0)
    chance = random.Random(seed)
    names = ["a", "b/c", "b/d", "b/*", "b/e/f", "b/-x", ":(top)a", "ünï"]
    history, marks = random_branches(chance, names, 100)
    commits = history.into(repository)

    for mark in [*chance.sample(marks[:-1], 3), marks[-1]]:
        for folder in ("", "b"):
            held = _names(repository, commits[mark], folder)
            found = last_commits(repository, commits[mark], folder.encode(), held)
            above = f"{folder}/" if folder else ""
            assert found is not None
            wanted = {name: _by_git(repository, commits[mark], above + name.decode()) for name in held}
            assert {name: found[name] for name in held} == wanted


def test_long_walks_stop_and_keep_their_results(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History()
    first = history.commit(files={"old": "x", "busy": "0"})
    for number in range(100):
        last = history.commit(files={"busy": str(number + 1)})
    commits = history.into(repository)
    asked = repository, commits[last], b"", [b"old", b"busy"]

    monkeypatch.setattr(folder_commits, "_INLINE_SECONDS", -1.0)
    with forbid_blocking(), pytest.raises(WouldBlock):
        last_commits(*asked)
    assert last_commits(*asked, seconds=0.0) is None
    assert cached_last_commits(*asked) is None
    assert last_commits(*asked) == {b"old": commits[first], b"busy": commits[last]}
    with forbid_blocking():
        assert cached_last_commits(*asked) == last_commits(*asked)

    more = History()
    mark = more.commit(files={"new": "x"}, parents=(commits[last],))
    after = more.into(repository)[mark]
    monkeypatch.setattr(folder_commits, "_GIT_LOG_SECONDS", 0.0)
    monkeypatch.setattr(folder_commits, "_WALK_SECONDS", 0.0)
    assert last_commits(repository, after, b"", [b"new"]) == {b"new": NOT_FOUND_IN_TIME}
    monkeypatch.setattr(folder_commits, "_WALK_SECONDS", 5.0)
    monkeypatch.setattr(folder_commits, "_MAX_TREES_READ", 1)
    again = last_commits(repository, after, b"", [b"new", b"old", b"busy"])
    assert again == {b"new": after, b"old": commits[first], b"busy": commits[last]}, "It goes on from what is known."


def test_a_path_that_is_no_folder(repository: Repository) -> None:
    history = History()
    mark = history.commit(files={"a": "x"})
    commit = history.into(repository)[mark]

    assert last_commits(repository, commit, b"a", [b"x"]) == {b"x": commit}
