"""Ancestry of commits."""

import pytest

from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.ancestry import is_ancestor, new_commits_among
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from tests.git_history import History


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


def test_new_commits_of_a_change(repository: Repository) -> None:
    """Of the given commits, those that were contained before or are unreachable do not count."""
    history = History()
    base = history.commit(files={"a": "1"})
    side = history.commit("side", files={"b": "1"}, parents=(base,))
    ours = history.commit(files={"c": "1"}, parents=(base,))
    merge = history.commit(files={"b": "1"}, parents=(ours, side))
    other = history.commit("other", files={"d": "1"}, parents=(base,))
    ids = history.into(repository)
    wanted = {ids[base], ids[side], ids[other], "1" * 40}
    assert new_commits_among(repository, ids[ours], ids[merge], wanted) == {ids[side]}
    assert new_commits_among(repository, NO_OID, ids[merge], wanted) == {ids[base], ids[side]}
    assert new_commits_among(repository, ids[merge], ids[other], wanted) == {ids[other]}
    assert new_commits_among(repository, ids[ours], "1" * 40, wanted) == frozenset(), "unknown commits contain nothing"
    assert is_ancestor(repository, ids[side], ids[merge])
    assert not is_ancestor(repository, ids[merge], ids[side])
    assert not is_ancestor(repository, ids[merge], "1" * 40)
    with pytest.raises(GitError):  # A branch whose commit is missing is damaged.
        is_ancestor(repository, "1" * 40, ids[merge])
