"""Answers about small changes that need no git process equal those of git."""

from itertools import pairwise
from random import Random

import pytest

from ingot.git.core import history_counts
from ingot.git.core.repository import Repository
from ingot.git.diffs.small_changes import small_change_stats
from ingot.git.history import ancestry
from ingot.git.history.ancestry import is_ancestor, new_commits_among
from ingot.git.maintenance.store import RepositoryStore
from tests.git_history import History, run

COMMITS = 60


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


def _numstat(repository: Repository, old: str, new: str) -> tuple[int, int]:
    lines = run(repository.path, "diff-tree", "-r", "-M", "--numstat", old, new).splitlines()
    counts = [line.split("\t")[:2] for line in lines]
    known = [(int(added), int(deleted)) for added, deleted in counts if added != "-"]
    return sum(added for added, _ in known), sum(deleted for _, deleted in known)


def test_line_counts(repository: Repository) -> None:
    """Lines that repeat, missing line ends, empty and binary files."""
    chance = Random(7)
    history = History()
    marks = [history.commit(files={"kept": "1\n"})]
    for _ in range(COMMITS):
        lines = [chance.choice(["a\n", "b\n", "\n", "c", "\0"]) for _ in range(chance.randrange(60))]
        marks.append(history.commit(files={chance.choice("xyz"): "".join(lines)}))
    marks.append(history.commit(removed=("kept",)))
    renamed = history.commit(files={"renamed": "1\n"}, removed=("x",))
    large = history.commit(files={"large": "line\n" * 20_000})
    link = history.commit(files={"link": ("120000", "large")})
    ids = history.into(repository)
    for old, new in pairwise(marks):
        counted = small_change_stats(repository, ids[old], ids[new])
        assert counted == _numstat(repository, ids[old], ids[new])
    assert small_change_stats(repository, None, ids[marks[0]]) == (1, 0)
    for old, new in ((marks[-1], renamed), (renamed, large), (large, link)):
        assert small_change_stats(repository, ids[old], ids[new]) is None, "left to git"


def test_a_commit_on_a_tip_needs_no_git_process(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History()
    old = history.commit(files={"a": "1"})
    oids = history.into(repository)
    run(repository.path, "repack", "-adq")
    assert repository.commit_count() == 1
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    tip = run(repository.path, *author, "commit-tree", "master^{tree}", "-p", "master", "-m", "Second")
    run(repository.path, "update-ref", "refs/heads/master", tip)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A git process was started")

    monkeypatch.setattr(ancestry, "run_git", refuse)
    monkeypatch.setattr(history_counts, "run_git", refuse)
    assert is_ancestor(repository, oids[old], tip)
    assert new_commits_among(repository, oids[old], tip, [oids[old], tip]) == {tip}
    assert repository.commit_count() == 2
