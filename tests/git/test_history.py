"""Lists of commits, compared with ``git log``."""

import random
from pathlib import Path

import pytest

from ingot.core.cache import CacheRegistry
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.history import log as history
from ingot.git.history.log import (
    ALL_COMMITS,
    CommitFilter,
    all_tips,
    commits_between,
    count_commits,
    list_commits,
    refs_containing,
)
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import git
from tests.git_history import History

START = 1_500_000_000


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    """Return an empty repository."""
    return store.open(key)


def log(path: Path, *args: str) -> list[str]:
    """Return the ids listed by git."""
    return git(path, "log", "--format=%H", *args).split()


def create_history(repository: Repository, commits: int = 120, seed: int = 7) -> str:
    """Create a history with many merges, equal times and wrong clocks, and return its tip."""
    chance = random.Random(seed)
    made = History()
    marks: list[int] = []
    for number in range(commits):
        parents: tuple[int, ...] = ()
        if marks:
            recent = marks[-8:]
            parents = tuple(chance.sample(recent, min(len(recent), chance.choice((1, 1, 1, 2, 3)))))
        at = START + 60 * number + chance.choice((0, 0, 0, -60, -600, 60))
        author = chance.choice(("Ada Writer <ada@example.org>", "Bob [x] <bob@example.org>"))
        files = {chance.choice(("a.txt", "lib/b.txt", "lib/ü.txt")): f"{number}\n"}
        marks.append(made.commit("master", files, f"Change {number}", parents=parents, author=author, at=at))
    marks.append(made.commit("master", {"z": "z"}, "All", parents=tuple(marks[-6:]), at=START + 60 * commits))
    return made.into(repository)[marks[-1]]


FILTERS = [
    (ALL_COMMITS, []),
    (CommitFilter(first_parent=True), ["--first-parent"]),
    (CommitFilter(topological=True), ["--topo-order"]),
    (CommitFilter(path="a.txt"), ["--", "a.txt"]),
    (CommitFilter(path="/lib/"), ["--", "lib"]),
    (
        CommitFilter(path="lib/ü.txt", topological=True, first_parent=True),
        ["--first-parent", "--topo-order", "--", "lib/ü.txt"],
    ),
    (CommitFilter(path="no/such/file"), ["--", "no/such/file"]),
    (CommitFilter(author="Bob [x]"), ["--author=bob@example"]),
    (CommitFilter(author="ada@EXAMPLE"), ["--author=Ada"]),
    (CommitFilter(since=START + 3000), [f"--since=@{START + 3000} +0000"]),
    (CommitFilter(until=START + 3000), [f"--until=@{START + 3000} +0000"]),
    (
        CommitFilter(since=START + 1200, until=START + 3000, path="lib"),
        [f"--since=@{START + 1200} +0000", f"--until=@{START + 3000} +0000", "--", "lib"],
    ),
]


@pytest.mark.parametrize(("wanted", "args"), FILTERS)
@pytest.mark.parametrize("graph", [False, True])
def test_order_and_totals_match_git(repository: Repository, wanted: CommitFilter, args: list[str], graph: bool) -> None:
    """With every filter, merges, equal times and wrong clocks, with and without a commit-graph."""
    tip = create_history(repository)
    if graph:
        git(repository.path, "repack", "-adbq")
        git(repository.path, "commit-graph", "write", "--reachable", "--changed-paths")
    place = args.index("--") if "--" in args else len(args)
    expected = log(repository.path, *args[:place], tip, *args[place:])
    pages = [list_commits(repository, [tip], wanted, offset, 7) for offset in range(0, len(expected) + 7, 7)]
    assert [oid for page, _ in pages for oid in page] == expected
    assert {total for _, total in pages} == {len(expected)}


def test_pages_read_no_commit_twice(repository: Repository) -> None:
    """A repeated page runs no git."""
    tip = create_history(repository)
    with forbid_blocking(), pytest.raises(WouldBlock):
        list_commits(repository, [tip], ALL_COMMITS, 0, 20)
    first = list_commits(repository, [tip], ALL_COMMITS, 0, 20)
    with forbid_blocking():
        assert list_commits(repository, [tip], ALL_COMMITS, 0, 20) == first
        assert list_commits(repository, [tip], ALL_COMMITS, 100, 20)[1] == first[1]
        assert list_commits(repository, [tip], ALL_COMMITS, 10**30, 20) == ([], first[1])
        assert count_commits(repository, tip) == first[1]


def test_a_new_tip_is_listed_at_once(repository: Repository) -> None:
    """Nothing is cached by the name of a branch."""
    tip = create_history(repository)
    before = list_commits(repository, [tip], ALL_COMMITS, 0, 20)
    made = History()
    mark = made.commit("master", {"new": "1"}, parents=(tip,), at=START + 10**6)
    newer = made.into(repository)[mark]
    oids, total = list_commits(repository, [newer], ALL_COMMITS, 0, 20)
    assert oids == [newer, *before[0][:-1]]
    assert total == before[1] + 1


@pytest.mark.parametrize(
    "wanted",
    [ALL_COMMITS, CommitFilter(path="lib"), CommitFilter(author="ada"), CommitFilter(path="a.txt", follow=True)],
)
def test_lists_longer_than_the_cache(
    repository: Repository, wanted: CommitFilter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache limits change only the cost."""
    tip = create_history(repository, seed=8)
    whole = list_commits(repository, [tip], wanted, 0, 1000)
    monkeypatch.setattr(history, "_list_cache", CacheRegistry(400_000).declare("lists", share=100))
    monkeypatch.setattr(history, "_FIRST_WALK_LENGTH", 4)
    monkeypatch.setattr(history, "_MAX_WALK_LENGTH", 16)
    pages = [list_commits(repository, [tip], wanted, offset, 5) for offset in range(0, whole[1] + 5, 5)]
    assert [oid for page, _ in pages for oid in page] == whole[0]
    assert {total for _, total in pages} == {whole[1]}
    assert list_commits(repository, [tip], wanted, 10**18, 5) == ([], whole[1])


def test_renames_are_followed_on_request(repository: Repository) -> None:
    """The list then continues with the file's older name."""
    made, text = History(), "".join(f"line {number}\n" for number in range(30))
    old = made.commit(files={"old.txt": text})
    moved = made.commit(files={"new.txt": text}, removed=("old.txt",))
    edited = made.commit(files={"new.txt": text + "more\n"})
    ids = made.into(repository)
    tips = [ids[edited]]
    assert list_commits(repository, tips, CommitFilter(path="new.txt"), 0, 20) == ([ids[edited], ids[moved]], 2)
    followed = [ids[edited], ids[moved], ids[old]]
    assert list_commits(repository, tips, CommitFilter(path="new.txt", follow=True), 0, 20) == (followed, 3)


def test_all_branches_and_tags(repository: Repository) -> None:
    """Tags of trees and files have no commit, and internal refs are excluded."""
    made = History()
    first = made.commit(files={"a": "1"})
    made.commit("side/ünïcode", files={"b": "1"}, parents=(first,))
    made.commit("orphan", files={"c": "1"}, parents=())
    tagged = made.commit("gone", files={"d": "1"}, parents=(first,))
    made.tag("v1", tagged, "Annotated")
    kept = made.commit("hidden", files={"e": "1"}, parents=(first,))
    ids = made.into(repository)
    path = repository.path
    git(path, "update-ref", "-d", "refs/heads/gone")
    git(path, "update-ref", "refs/keep/1", ids[kept])
    git(path, "update-ref", "-d", "refs/heads/hidden")
    git(path, "update-ref", "refs/tags/tree", git(path, "rev-parse", "master^{tree}"))
    git(path, "update-ref", "refs/tags/file", git(path, "rev-parse", "master:a"))
    oids, total = list_commits(repository, all_tips(repository), ALL_COMMITS, 0, 20)
    assert oids == log(path, "--branches", "--tags")
    assert total == len(oids) == 4


def test_no_tips_and_impossible_filters(repository: Repository) -> None:
    """They list nothing, without running git."""
    tip = create_history(repository, 3)
    assert list_commits(repository, [], ALL_COMMITS, 0, 20) == ([], 0)
    with forbid_blocking():
        for path in ("..", "../x", "a/../b", "a//b", "./a", "x" * 70_000):
            assert list_commits(repository, [tip], CommitFilter(path=path), 0, 20) == ([], 0), path
        assert list_commits(repository, [tip], CommitFilter(until=-1), 0, 20) == ([], 0)


@pytest.mark.parametrize(
    "path", ["-x", "--output=pwned", ":(glob)**", ":!a.txt", "*", "[a]", "a\nb", "\\a.txt", "x" * 5000]
)
def test_paths_are_literal(repository: Repository, path: str) -> None:
    """Neither options nor patterns."""
    made = History()
    made.commit(files={"a.txt": "1"})
    mark = made.commit(files={"b.txt": "1"})
    tip = made.into(repository)[mark]
    assert list_commits(repository, [tip], CommitFilter(path=path), 0, 20) == ([], 0)
    more = History()
    if path.startswith("\\") or len(path) > 1000:
        return
    mark = more.commit(files={path: "1"}, parents=(tip,))
    newer = more.into(repository)[mark]
    assert list_commits(repository, [newer], CommitFilter(path=path), 0, 20) == ([newer], 1)
    assert not (repository.path / "pwned").exists()


@pytest.mark.parametrize("author", ["-x", "--all", "*", ".*", "\\(", "[^", "Ada\nBob", "x" * 255])
def test_authors_are_literal(repository: Repository, author: str) -> None:
    """Patterns match no author."""
    tip = create_history(repository, 4)
    expected = 5 if "\n" in author else 0
    assert list_commits(repository, [tip], CommitFilter(author=author), 0, 20)[1] == expected


def test_times_are_inclusive(repository: Repository) -> None:
    """To the second, at both ends, and beyond 32 bits."""
    made = History()
    times = [START, START + 1, START + 2, 2**33]
    marks = [made.commit(files={"a": str(at)}, at=at) for at in times]
    ids = made.into(repository)
    tips = [ids[marks[-1]]]

    def listed(since: int | None = None, until: int | None = None) -> list[int]:
        found = list_commits(repository, tips, CommitFilter(since=since, until=until), 0, 20)[0]
        return [times[marks.index(mark)] for mark in marks if ids[mark] in found]

    assert listed(since=START + 1, until=START + 1) == [START + 1]
    assert listed(since=START + 2) == [START + 2, 2**33]
    assert listed(until=START) == [START]
    assert listed(since=2**33) == [2**33]
    assert listed(since=2**33 + 1) == []
    assert listed(since=-(10**10), until=2**34) == times


def test_commits_between_two_refs(repository: Repository) -> None:
    """As ``git log --reverse``, limited to the newest."""
    tip = create_history(repository)
    old = log(repository.path, tip)[40]
    expected = log(repository.path, f"{old}..{tip}")[::-1]
    assert commits_between(repository, old, tip, 1000) == expected
    assert commits_between(repository, old, tip, 5) == expected[-5:]
    assert commits_between(repository, tip, old, 5) == []


def test_refs_that_contain_a_commit(repository: Repository) -> None:
    """Branches or tags; cached until a ref changes."""
    made = History()
    first = made.commit(files={"a": "1"})
    second = made.commit(files={"a": "2"})
    made.commit("ü/x", files={"a": "3"}, parents=(first,))
    made.tag("v1", second, "Annotated")
    ids = made.into(repository)
    heads, tags = b"refs/heads/", b"refs/tags/"
    names = [b"refs/heads/master", "refs/heads/ü/x".encode(), b"refs/tags/v1"]
    assert refs_containing(repository, ids[first], heads, 1) == names[:2]
    assert refs_containing(repository, ids[second], heads, 1) == names[:1]
    assert refs_containing(repository, ids[second], tags, 1) == names[2:]
    with forbid_blocking():
        assert refs_containing(repository, ids[first], heads, 1) == names[:2]
        with pytest.raises(WouldBlock):
            refs_containing(repository, ids[first], heads, 2)
    git(repository.path, "update-ref", "refs/heads/ü/y", ids[first])
    assert refs_containing(repository, ids[first], heads, 2) == [*names[:2], "refs/heads/ü/y".encode()]


def test_count(repository: Repository) -> None:
    """Along all parents, or only the first."""
    tip = create_history(repository)
    assert count_commits(repository, tip) == len(log(repository.path, tip))
    assert count_commits(repository, tip, first_parent=True) == len(log(repository.path, "--first-parent", tip))
