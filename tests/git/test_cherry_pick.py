"""Cherry-picks and reverts in a repository."""

import subprocess
from pathlib import Path

import pytest

from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.cherry_picks import EmptyPick, PickConflict, picked_tree, reverted_tree
from tests.git.conftest import git
from tests.git_history import History

LINES = "".join(f"line {number}\n" for number in range(30))
MODULE = "2" * 40


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


class Commits:
    """Commits of a history by their marks."""

    def __init__(self, repository: Repository, history: History) -> None:
        self._repository = repository
        self._ids = history.into(repository)

    def __getitem__(self, mark: int) -> Commit:
        found = commit_or_none(self._repository, self._ids[mark])
        assert found is not None
        return found


def listed(repository: Repository, tree: str) -> dict[str, str]:
    """Return the paths of a tree with their modes."""
    return {line.split("\t")[1]: line.split()[0] for line in git(repository.path, "ls-tree", "-r", tree).splitlines()}


def text(repository: Repository, tree: str, path: str) -> str:
    """Return a file of a tree."""
    return git(repository.path, "cat-file", "blob", f"{tree}:{path}")


def test_changes_of_both_sides_are_combined(repository: Repository, tmp_path: Path) -> None:
    """Changes at both ends of one file are merged, with git's own result."""
    history = History()
    files = {"file": LINES, "run": ("100755", "x"), "link": ("120000", "file"), "module": ("160000", MODULE)}
    base = history.commit(files=files)
    ours = history.commit(files={"file": "top\n" + LINES, "new": "1\n"})
    theirs = history.commit("side", files={"file": LINES + "bottom\n", "other": ("100755", "2\n")}, parents=(base,))
    commits = Commits(repository, history)

    tree = picked_tree(repository, commits[theirs], commits[ours])

    assert text(repository, tree, "file") == f"top\n{LINES}bottom"
    assert listed(repository, tree) == {
        "file": "100644",
        "link": "120000",
        "module": "160000",
        "new": "100644",
        "other": "100755",
        "run": "100755",
    }
    git(tmp_path, "clone", "-q", repository.path, "checkout")
    git(tmp_path / "checkout", "cherry-pick", commits[theirs].oid)
    assert git(tmp_path / "checkout", "rev-parse", "HEAD^{tree}") == tree


def test_conflicts_and_empty_results(repository: Repository) -> None:
    """Conflicting changes, and changes that are already present, are reported."""
    history = History()
    base = history.commit(files={"file": LINES, "gone": "x\n"})
    ours = history.commit(files={"file": LINES.replace("line 5", "ours")}, removed=("gone",))
    theirs = history.commit("a", files={"file": LINES.replace("line 5", "theirs")}, parents=(base,))
    same = history.commit("b", files={"file": LINES.replace("line 5", "ours")}, parents=(base,))
    edits = history.commit("c", files={"gone": "changed\n"}, parents=(base,))
    turns = history.commit("d", files={"gone/now/a/folder": "x"}, removed=("gone",), parents=(base,))
    commits = Commits(repository, history)
    for mark, kind in ((theirs, PickConflict), (same, EmptyPick), (edits, PickConflict)):
        with pytest.raises(PickConflict) as refused:
            picked_tree(repository, commits[mark], commits[ours])
        assert refused.type is kind
    assert "gone/now/a/folder" in listed(repository, picked_tree(repository, commits[turns], commits[base]))


def test_root_commits(repository: Repository) -> None:
    """The root commit of a history adds all its files, and its revert removes them."""
    history = History()
    base = history.commit(files={"a": "1\n"})
    after = history.commit(files={"b": "2\n"})
    alone = history.commit("alone", files={"c": "3\n"}, parents=())
    commits = Commits(repository, history)
    assert set(listed(repository, picked_tree(repository, commits[alone], commits[after]))) == {"a", "b", "c"}
    assert set(listed(repository, reverted_tree(repository, commits[base], commits[after]))) == {"b"}
    assert listed(repository, reverted_tree(repository, commits[base], commits[base])) == {}


def test_merges_use_their_first_parent(repository: Repository) -> None:
    """Reverting a merge removes the changes that it added to its branch."""
    history = History()
    base = history.commit(files={"a": "1\n"})
    side = history.commit("side", files={"s": "side\n"}, parents=(base,))
    ours = history.commit(files={"o": "ours\n"}, parents=(base,))
    merge = history.commit(files={"s": "side\n"}, parents=(ours, side))
    commits = Commits(repository, history)
    assert set(listed(repository, reverted_tree(repository, commits[merge], commits[merge]))) == {"a", "o"}
    assert set(listed(repository, picked_tree(repository, commits[merge], commits[base]))) == {"a", "s"}


def test_a_second_revert_is_empty(repository: Repository) -> None:
    """Nothing is left to revert."""
    history = History()
    history.commit(files={"a": "1\n"})
    changed = history.commit(files={"a": "2\n"})
    back = history.commit(files={"a": "1\n"})
    commits = Commits(repository, history)
    with pytest.raises(PickConflict):
        reverted_tree(repository, commits[changed], commits[back])


def test_names_in_other_encodings(repository: Repository) -> None:
    """Names that are not UTF-8 are handled like all others."""
    history = History()
    base = history.commit(files={"caf\udce9": "1\n"})
    ours = history.commit(files={"x": "1\n"})
    theirs = history.commit("side", files={"caf\udce9": "2\n"}, parents=(base,))
    commits = Commits(repository, history)
    tree = picked_tree(repository, commits[theirs], commits[ours])
    names = subprocess.run(["git", "ls-tree", "-z", tree], cwd=repository.path, capture_output=True, check=True).stdout
    assert b"caf\xe9\0" in names
