"""Merges without a work tree, compared with git's own merge in a checkout."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, Signature, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_commits import TooManyCommits, merge_commit, rebase_commits, squash_commit, squash_merge
from ingot.git.writing.merge_trees import MergeConflict, can_merge, write_merged_tree
from tests.git.conftest import ENVIRONMENT, files_in, git
from tests.git_history import History

LINES = "".join(f"line {number}\n" for number in range(60))
MODULE, MOVED, ELSEWHERE = "2" * 40, "3" * 40, "4" * 40
BINARY = bytes(range(256)) * 4
CALLER = Signature("Grace", "grace@example.com", 1_600_000_000, 0)
MESSAGE = CommitMetadata("Merge it", CALLER, CALLER)


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


def _renames_on_both_sides(history: History) -> None:
    base = history.commit(files={"a/one": LINES, "two": LINES.replace("line", "row"), "kept": "x\n"})
    history.commit(files={"b/one": LINES, "two": LINES.replace("line", "row") + "end\n"}, removed=("a/one",))
    changed = {"a/one": "top\n" + LINES, "2": LINES.replace("line", "row")}
    history.commit("side", files=changed, removed=("two",), parents=(base,))


def _different_renames(history: History) -> None:
    base = history.commit(files={"one": LINES})
    history.commit(files={"here": LINES}, removed=("one",))
    history.commit("side", files={"there": LINES}, removed=("one",), parents=(base,))


def _binary_conflict(history: History) -> None:
    base = history.commit(files={"image": BINARY, "text": LINES})
    history.commit(files={"image": BINARY + b"\0ours"})
    history.commit("side", files={"image": BINARY + b"\0theirs"}, parents=(base,))


def _binary_on_one_side(history: History) -> None:
    base = history.commit(files={"image": BINARY, "text": LINES})
    history.commit(files={"text": "top\n" + LINES})
    history.commit("side", files={"image": BINARY + b"\0theirs", "text": LINES + "end\n"}, parents=(base,))


def _criss_cross(history: History) -> None:
    base = history.commit(files={"file": LINES})
    left = history.commit(files={"file": LINES.replace("line 5\n", "left\n")})
    right = history.commit("side", files={"file": LINES.replace("line 50\n", "right\n")}, parents=(base,))
    both = LINES.replace("line 5\n", "left\n").replace("line 50\n", "right\n")
    history.commit(files={"file": both}, parents=(left, right))
    history.commit("side", files={"file": both}, parents=(right, left))
    history.commit(files={"file": both.replace("line 20\n", "later left\n")})
    history.commit("side", files={"file": both.replace("line 30\n", "later right\n"), "new": "1\n"})


def _criss_cross_conflict(history: History) -> None:
    """Return each side resolved the same conflict differently, so that there is no single merge base."""
    base = history.commit(files={"file": LINES})
    left = history.commit(files={"file": LINES.replace("line 5\n", "left\n")})
    right = history.commit("side", files={"file": LINES.replace("line 5\n", "right\n")}, parents=(base,))
    history.commit(files={"file": LINES.replace("line 5\n", "left first\n")}, parents=(left, right))
    history.commit("side", files={"file": LINES.replace("line 5\n", "right first\n")}, parents=(right, left))


def _empty_difference(history: History) -> None:
    base = history.commit(files={"file": LINES})
    history.commit(files={"other": "1\n"})
    history.commit("side", files={"file": LINES + "end\n"}, parents=(base,))
    history.commit("side", files={"file": LINES})


def _the_same_on_both_sides(history: History) -> None:
    base = history.commit(files={"file": LINES})
    history.commit(files={"file": "top\n" + LINES, "only": "x\n"})
    history.commit("side", files={"file": "top\n" + LINES}, parents=(base,))


def _unrelated(history: History) -> None:
    history.commit(files={"file": LINES})
    history.commit("side", files={"other": LINES}, parents=())


def _submodule_on_one_side(history: History) -> None:
    base = history.commit(files={"module": ("160000", MODULE), "file": LINES})
    history.commit(files={"file": "top\n" + LINES})
    history.commit("side", files={"module": ("160000", MOVED), "added": ("160000", MODULE)}, parents=(base,))


def _submodule_on_both_sides(history: History) -> None:
    base = history.commit(files={"module": ("160000", MODULE)})
    history.commit(files={"module": ("160000", MOVED)})
    history.commit("side", files={"module": ("160000", ELSEWHERE)}, parents=(base,))


def _modes_and_links(history: History) -> None:
    base = history.commit(files={"run": "#!\n", "link": ("120000", "run")})
    history.commit(files={"run": ("100755", "#!\n")})
    history.commit("side", files={"run": "#!\nmore\n", "link": ("120000", "elsewhere")}, parents=(base,))


def _file_against_folder(history: History) -> None:
    base = history.commit(files={"file": LINES})
    history.commit(files={"thing": "a file\n"})
    history.commit("side", files={"thing/inside": "a folder\n"}, parents=(base,))


def _deleted_and_changed(history: History) -> None:
    base = history.commit(files={"file": LINES, "other": "x\n"})
    history.commit(removed=("file",))
    history.commit("side", files={"file": LINES + "end\n"}, parents=(base,))


def _odd_names(history: History) -> None:
    base = history.commit(files={"caf\udce9": "1\n", "-x": "2\n", "new\nline": "3\n"})
    history.commit(files={"-x": "4\n"})
    history.commit("side", files={"caf\udce9": "5\n", "new\nline": "6\n"}, parents=(base,))


CLEAN = (
    _renames_on_both_sides,
    _binary_on_one_side,
    _criss_cross,
    _empty_difference,
    _the_same_on_both_sides,
    _submodule_on_one_side,
    _modes_and_links,
    _odd_names,
)
CONFLICTS = (
    _different_renames,
    _binary_conflict,
    _criss_cross_conflict,
    _unrelated,
    _submodule_on_both_sides,
    _file_against_folder,
    _deleted_and_changed,
)


def tips(repository: Repository) -> tuple[str, str]:
    """Return both sides."""
    ours, theirs = repository.tip("refs/heads/master"), repository.tip("refs/heads/side")
    assert ours is not None
    assert theirs is not None
    return ours, theirs


def in_a_checkout(repository: Repository, folder: Path) -> str | None:
    """Return the tree of ``git merge`` in a checkout, or None on conflicts."""
    git(folder, "clone", "-q", repository.path, "checkout")
    done = subprocess.run(
        ["git", "merge", "-q", "--no-ff", "-m", "x", "origin/side"],
        cwd=folder / "checkout",
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    return git(folder / "checkout", "rev-parse", "HEAD^{tree}") if done.returncode == 0 else None


@pytest.mark.parametrize("build", CLEAN)
def test_clean_merges_match_git(repository: Repository, tmp_path: Path, build: Callable[[History], None]) -> None:
    """The tree is the one of git merge, and the check writes no objects."""
    history = History()
    build(history)
    history.into(repository)
    ours, theirs = tips(repository)
    before = files_in(repository.path)
    assert can_merge(repository, ours, theirs)
    assert files_in(repository.path) == before

    expected = in_a_checkout(repository, tmp_path)
    assert write_merged_tree(repository, ours, theirs) == expected
    made = commit_or_none(repository, merge_commit(repository, ours, theirs, MESSAGE).commit)
    assert made is not None
    assert (made.tree, made.parents, made.message) == (expected, (ours, theirs), "Merge it")
    git(repository.path, "update-ref", "refs/heads/merged", made.oid)
    git(repository.path, "fsck", "--strict")


@pytest.mark.parametrize("build", CONFLICTS)
def test_conflicts_match_git(repository: Repository, tmp_path: Path, build: Callable[[History], None]) -> None:
    """A failed attempt leaves no files."""
    history = History()
    build(history)
    history.into(repository)
    ours, theirs = tips(repository)
    before = files_in(repository.path)
    assert not can_merge(repository, ours, theirs)
    assert files_in(repository.path) == before
    assert in_a_checkout(repository, tmp_path) is None
    with pytest.raises(MergeConflict):
        write_merged_tree(repository, ours, theirs)


def test_conflicting_paths_are_listed(repository: Repository) -> None:
    """Each once, including unusual names."""
    history = History()
    base = history.commit(files={"a": "1\n", "new\nline": "1\n", "fine": "1\n"})
    history.commit(files={"a": "2\n", "new\nline": "2\n"})
    history.commit("side", files={"a": "3\n", "new\nline": "3\n", "fine": "2\n"}, parents=(base,))
    history.into(repository)
    with pytest.raises(MergeConflict) as refused:
        write_merged_tree(repository, *tips(repository))
    assert refused.value.paths == ("a", "new\nline")


def test_a_missing_commit_is_an_error(repository: Repository) -> None:
    """Not a conflict, because that result would be cached."""
    history = History()
    history.commit(files={"a": "1\n"})
    (oid,) = history.into(repository).values()
    for ours, theirs in ((oid, "1" * 40), (NO_OID, oid)):
        with pytest.raises(GitError):
            write_merged_tree(repository, ours, theirs)
        with pytest.raises(GitError):
            can_merge(repository, ours, theirs)


def test_squash(repository: Repository) -> None:
    """All changes of a branch become one commit, also if it had merged the target meanwhile."""
    history = History()
    base = history.commit(files={"file": LINES})
    side = history.commit("side", files={"file": LINES + "end\n"}, parents=(base,))
    middle = history.commit(files={"other": "1\n"}, parents=(base,))
    history.commit("side", files={"other": "1\n"}, parents=(side, middle))
    history.commit("side", files={"mine": "2\n"})
    onto = history.commit(files={"file": "top\n" + LINES})
    marks = history.into(repository)
    ours, theirs = tips(repository)
    squashed = CommitMetadata("All at once", CALLER, CALLER)
    made = squash_merge(repository, ours, theirs, squashed, MESSAGE)
    assert made.squashed is not None
    single, merge = (commit_or_none(repository, oid) for oid in (made.squashed, made.commit))
    assert single is not None
    assert merge is not None
    assert single.parents == (marks[middle],)
    assert single.message == "All at once"
    assert git(repository.path, "diff", f"{ours}...{theirs}") == git(repository.path, "show", "--format=", single.oid)
    assert merge.parents == (marks[onto], single.oid)
    assert merge.tree == write_merged_tree(repository, ours, theirs)


def test_squash_of_unrelated_histories(repository: Repository) -> None:
    """There is no merge base, so it fails."""
    history = History()
    _unrelated(history)
    history.into(repository)
    with pytest.raises(MergeConflict):
        squash_commit(repository, *tips(repository), MESSAGE)


def test_rebase(repository: Repository, tmp_path: Path) -> None:
    """Commits are applied in order; present changes and merges are skipped, as by git."""
    history = History()
    base = history.commit(files={"file": LINES, "a": "1\n"})
    first = history.commit(
        "side", files={"file": LINES + "end\n"}, message="First", parents=(base,), author="A <a@b.c>"
    )
    history.commit("side", files={"twice": "2\n"}, message="Twice")
    middle = history.commit(files={"twice": "2\n"}, parents=(base,))
    history.commit("side", files={"twice": "2\n"}, message="A merge", parents=(first + 1, middle))
    history.commit("side", files={"b": "3\n"}, message="Last", author="B <b@b.c>")
    history.commit(files={"file": "top\n" + LINES})
    history.into(repository)
    ours, theirs = tips(repository)

    tip = rebase_commits(repository, ours, theirs, CALLER)

    shown = git(repository.path, "log", "--format=%s %an %cn", f"{ours}..{tip}")
    assert shown == "Last B Grace\nFirst A Grace"
    git(tmp_path, "clone", "-q", repository.path, "checkout")
    git(tmp_path / "checkout", "checkout", "-q", "side")
    git(tmp_path / "checkout", "rebase", "-q", "origin/master")
    assert git(tmp_path / "checkout", "rev-parse", "HEAD^{tree}") == git(
        repository.path, "rev-parse", f"{tip}^{{tree}}"
    )


def test_empty_rebase(repository: Repository) -> None:
    """An up-to-date branch stays unchanged, and a contained one has no commits."""
    history = History()
    base = history.commit(files={"a": "1\n"})
    onto = history.commit(files={"b": "1\n"})
    history.commit("side", files={"b": "1\n"}, parents=(base,))
    history.commit("ahead", files={"c": "1\n"}, parents=(onto,))
    history.into(repository)
    ours, theirs = tips(repository)
    assert rebase_commits(repository, ours, theirs, CALLER) == ours
    ahead = repository.tip("refs/heads/ahead") or ""
    tip = commit_or_none(repository, rebase_commits(repository, ours, ahead, CALLER))
    assert tip is not None
    assert tip.parents == (ours,)


def test_rebase_with_conflicts(repository: Repository) -> None:
    """One conflict stops it."""
    history = History()
    base = history.commit(files={"a": "1\n"})
    history.commit("side", files={"b": "1\n"}, parents=(base,))
    history.commit("side", files={"a": "2\n"})
    history.commit(files={"a": "3\n"}, parents=(base,))
    history.into(repository)
    with pytest.raises(MergeConflict):
        rebase_commits(repository, *tips(repository), CALLER)


def test_rebase_of_too_many_commits(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of commits is limited."""
    monkeypatch.setattr("ingot.git.writing.merge_commits.MAX_REBASED_COMMITS", 2)
    history = History()
    base = history.commit(files={"a": "1\n"})
    history.commit(files={"b": "1\n"})
    for number in range(3):
        history.commit("side", files={"c": f"{number}\n"}, parents=(base,) if number == 0 else None)
    history.into(repository)
    with pytest.raises(TooManyCommits):
        rebase_commits(repository, *tips(repository), CALLER)
