"""Diffs: equal to git's, and bounded."""

import subprocess
from pathlib import Path

import pytest

from ingot.core.cache import CacheRegistry
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.diffs import diffs
from ingot.git.diffs.diffs import DiffLimits, FileDiff, diff_between
from ingot.git.diffs.stats import CommitStats, commit_stats
from ingot.git.history.commits import read_commits
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import git
from tests.git_history import History

LINES = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


def two(repository: Repository, before: dict[str, object], after: dict[str, object], *removed: str) -> tuple[str, str]:
    """Create two commits with these files."""
    made = History()
    first = made.commit(files=before)
    second = made.commit(files=after, removed=removed)
    ids = made.into(repository)
    return ids[first], ids[second]


def one(repository: Repository, before: dict[str, object], after: dict[str, object], *removed: str) -> FileDiff:
    """Return the only change between two commits."""
    (change,) = diff_between(repository, *two(repository, before, after, *removed)).changes
    return change


def shown_by_git(path: Path, *args: str) -> str:
    """Return each patch shown by git, without the lines before the names."""
    said = subprocess.run(
        ["git", "-c", "core.quotePath=false", "diff-tree", "-r", "-M", "-p", *args],
        cwd=path,
        capture_output=True,
        check=True,
    ).stdout
    shown = []
    for patch in said.split(b"diff --git ")[1:]:
        lines = patch.splitlines(keepends=True)
        starts = [at for at, line in enumerate(lines) if line.startswith((b"---", b"Binary"))]
        shown.append(b"".join(lines[starts[0] :]) if starts else b"")
    return b"|".join(shown).decode()


def test_an_edit(repository: Repository) -> None:
    """Names and hunks are exact."""
    change = one(repository, {"a/b.txt": LINES}, {"a/b.txt": LINES.replace("line 7\n", "line seven\n")})
    assert change.diff.startswith("--- a/a/b.txt\n+++ b/a/b.txt\n@@ -5,7 +5,7 @@ line 3\n line 4\n")
    assert "-line 7\n+line seven\n" in change.diff
    assert change.diff.endswith(" line 10\n")
    assert (change.a_mode, change.b_mode) == ("100644", "100644")
    assert not (change.new_file or change.renamed_file or change.deleted_file or change.too_large or change.collapsed)


def test_a_new_and_a_deleted_file(repository: Repository) -> None:
    """The missing side has mode 0, and the path of the other."""
    new, gone = diff_between(repository, *two(repository, {"z": "1\n"}, {"a": "2\n"}, "z")).changes
    assert new == FileDiff(b"a", b"a", "0", "100644", True, False, False, "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+2\n")
    assert gone.diff == "--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    assert (gone.old_path, gone.new_path, gone.a_mode, gone.b_mode) == (b"z", b"z", "100644", "0")
    assert gone.deleted_file


def test_the_first_commit(repository: Repository) -> None:
    """It is compared with the empty tree."""
    first, _ = two(repository, {"a": "1\n", "b/c": "2\n"}, {})
    changes = diff_between(repository, None, first).changes
    assert [(change.new_path, change.new_file) for change in changes] == [(b"a", True), (b"b/c", True)]


def test_renames(repository: Repository) -> None:
    """With and without changes of content."""
    change = one(repository, {"old.txt": LINES}, {"new.txt": LINES}, "old.txt")
    assert (change.old_path, change.new_path, change.diff) == (b"old.txt", b"new.txt", "")
    assert change.renamed_file
    assert not change.new_file
    edited = one(repository, {"one": LINES}, {"two": LINES + "more\n"}, "one", "new.txt")
    assert edited.renamed_file
    assert edited.diff.startswith("--- a/one\n+++ b/two\n")


def test_modes(repository: Repository) -> None:
    """A file becomes executable; its lines do not change."""
    change = one(repository, {"run": "x\n"}, {"run": ("100755", "x\n")})
    assert (change.a_mode, change.b_mode, change.diff) == ("100644", "100755", "")


def test_a_file_that_became_a_symlink(repository: Repository) -> None:
    """It is deleted and created, as in git's patch."""
    before, after = two(repository, {"a": "1\n", "b": "b\n"}, {"a": ("120000", "target"), "c": "c\n"})
    gone, link, other = diff_between(repository, before, after).changes
    assert (gone.a_mode, gone.b_mode, gone.deleted_file) == ("100644", "0", True)
    assert (link.a_mode, link.b_mode, link.new_file) == ("0", "120000", True)
    assert link.diff.endswith("+target\n\\ No newline at end of file\n")
    assert other.diff.endswith("+c\n")


def test_submodules(repository: Repository) -> None:
    """From one commit to another."""
    change = one(repository, {"sub": ("160000", "1" * 40)}, {"sub": ("160000", "2" * 40)})
    assert (change.a_mode, change.b_mode) == ("160000", "160000")
    assert change.diff.endswith(f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n")


def test_binary_files(repository: Repository) -> None:
    """Only the difference is reported."""
    assert one(repository, {"a": b"\0\1"}, {"a": b"\0\2"}).diff == "Binary files a/a and b/a differ\n"


def test_no_final_newline(repository: Repository) -> None:
    """git's marker follows the line."""
    change = one(repository, {"a": "1"}, {"a": "1\n"})
    assert change.diff.endswith("@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n")


def test_other_encodings(repository: Repository) -> None:
    """Lines that are not UTF-8 are read as Latin-1, others as UTF-8."""
    change = one(repository, {"ü": "a\n"}, {"ü": "a\nä\n".encode() + "ä\n".encode("latin-1")})
    assert change.diff == "--- a/ü\n+++ b/ü\n@@ -1 +1,3 @@\n a\n+ä\n+ä\n"


NAMES = ["a b", 'q"uote', "new\nline", "tab\tx", "--- x", "ü/日本", "\udcff\udcfe.txt", "diff --git a"]


@pytest.mark.parametrize("name", NAMES)
def test_unusual_names(repository: Repository, name: str) -> None:
    """Paths are bytes, and no name is misinterpreted."""
    changes = diff_between(repository, *two(repository, {"x": "1\n"}, {name: "2\n", "zz": "3\n"})).changes
    by_path = {change.new_path: change.diff for change in changes}
    assert by_path[name.encode(errors="surrogateescape")].endswith("@@ -0,0 +1 @@\n+2\n")
    assert by_path[b"zz"].endswith("@@ -0,0 +1 @@\n+3\n")


def test_contents_that_look_like_a_diff(repository: Repository) -> None:
    """They follow a prefix, and so start no header."""
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\ndiff --git a/y b/y\n"
    first, second = diff_between(repository, *two(repository, {"x": "1\n"}, {"a": text, "b": "-- x\n"})).changes
    assert first.diff.count("\n+diff --git ") == 2
    assert second.diff.endswith("+-- x\n")


def everything(repository: Repository) -> tuple[str, str]:
    """Create two commits with a change of each kind."""
    before: dict[str, object] = {f"file{number:02}": LINES + f"{number}\n" for number in range(30)}
    after: dict[str, object] = {f"file{number:02}": LINES + f"{number}\nmore {number}\n" for number in range(0, 30, 2)}
    before |= {"bin": b"\0", "link": "file", "moved": LINES * 2, "same": "same\n"}
    after |= {"bin": b"\0\0", "link": ("120000", "bin"), "goal": LINES * 2 + "x\n", "ü": "new", "empty": ""}
    return two(repository, before, after, "moved", "file01", "file03")


def test_many_files_match_git(repository: Repository) -> None:
    """In order and content."""
    old, new = everything(repository)
    changes = diff_between(repository, old, new).changes
    assert "|".join(change.diff for change in changes) == shown_by_git(repository.path, old, new)
    names = git(repository.path, "diff-tree", "-r", "-M", "--name-only", "-z", old, new).strip("\0").split("\0")
    assert list(dict.fromkeys(change.new_path.decode() for change in changes)) == names


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_output_in_any_chunks(repository: Repository, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunk boundaries do not change the result."""
    old, new = everything(repository)
    whole = diff_between(repository, old, new)
    monkeypatch.setattr(diffs, "_diff_cache", CacheRegistry(0).declare("diffs", share=100))
    take = diffs._DiffParser.take

    def parse_in_chunks(self: diffs._DiffParser, piece: bytes) -> None:
        for at in range(0, len(piece), size):
            take(self, piece[at : at + size])

    monkeypatch.setattr(diffs._DiffParser, "take", parse_in_chunks)
    assert diff_between(repository, old, new) == whole


def test_diffs_are_cached(repository: Repository) -> None:
    """The second call runs no git."""
    old, new = everything(repository)
    with forbid_blocking(), pytest.raises(WouldBlock):
        diff_between(repository, old, new)
    first = diff_between(repository, old, new)
    with forbid_blocking():
        assert diff_between(repository, old, new) == first


def test_a_patch_over_the_limit(repository: Repository) -> None:
    """It is listed without lines; its neighbours are complete."""
    long_line = "x" * 5_000_000
    before, after = two(repository, {"k": "k\n"}, {"a": "a\n", "b": long_line, "c": "y\n" * 110_000, "d": "d\n"})
    a, b, c, d = diff_between(repository, before, after).changes
    assert (b.diff, b.too_large, b.collapsed, b.new_file) == ("", True, False, True)
    assert (c.diff, c.too_large) == ("", True)
    assert a.diff.endswith("+a\n")
    assert d.diff.endswith("+d\n")
    assert not d.too_large


def test_a_text_over_the_comparison_limit(repository: Repository) -> None:
    """git does not load it, and it is not called binary."""
    before, after = two(repository, {"k": "k\n"}, {"a": "x" * (33 * 2**20), "b": b"\0"})
    a, b = diff_between(repository, before, after).changes
    assert (a.diff, a.too_large) == ("", True)
    assert b.diff == "Binary files /dev/null and b/b differ\n"
    assert commit_stats(repository, read_commits(repository, [after])) == [CommitStats(0, 0)]


def test_too_many_files(repository: Repository) -> None:
    """Of 20,000 files the first thousand are shown, and all are listed."""
    before, after = two(
        repository, {"k": "k\n"}, {f"{number % 100}/{number}": f"{number}\n" for number in range(20_500)}
    )
    diff = diff_between(repository, before, after)
    assert diff.overflow
    assert len(diff.changes) == 20_000
    shown = [change for change in diff.changes if change.diff]
    assert diff.changes[: len(shown)] == tuple(shown)
    assert len(shown) == 1000
    assert all(change.collapsed and not change.too_large for change in diff.changes[1000:])
    assert commit_stats(repository, read_commits(repository, [after])) == [CommitStats(20_500, 0)]


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        (DiffLimits(files=3), 3),
        (DiffLimits(lines=20), 5),
        (DiffLimits(bytes=200), 4),
        (DiffLimits(listed=2), 2),
        (DiffLimits(), 10),
    ],
)
def test_each_limit(repository: Repository, limits: DiffLimits, shown: int) -> None:
    """Files beyond a limit are listed without content."""
    old, new = two(repository, {"k": "k\n"}, {f"file{number}": "x\n" for number in range(10)})
    diff = diff_between(repository, old, new, limits)
    assert [bool(change.diff) for change in diff.changes] == [True] * shown + [False] * (min(10, limits.listed) - shown)
    assert all(change.collapsed for change in diff.changes[shown:])
    assert diff.overflow == (shown < 10)


def test_statistics(repository: Repository) -> None:
    """Against the first parent, with renames; many commits at once."""
    made = History()
    first = made.commit(files={"a": LINES, "b": b"\0", "c": "no newline"})
    empty = made.commit()
    moved = made.commit(files={"d": LINES + "x\n"}, removed=("a",))
    side = made.commit("side", files={"e": "1\n2\n"}, parents=(first,))
    merge = made.commit(files={"e": "1\n2\n"}, parents=(moved, side))
    name = made.commit(files={"f" * 40: "1\n"})
    renamed = made.commit(files={"e" * 40: "1\n"}, removed=("f" * 40,))
    ids = made.into(repository)
    commits = read_commits(repository, [ids[mark] for mark in (first, empty, moved, side, merge, name, renamed)])
    expected = [
        CommitStats(41),
        CommitStats(),
        CommitStats(1),
        CommitStats(2),
        CommitStats(2),
        CommitStats(1),
        CommitStats(),
    ]
    assert commit_stats(repository, commits) == expected
    with forbid_blocking():
        assert commit_stats(repository, commits[::-1]) == expected[::-1]
    assert CommitStats(2, 3).total == 5
