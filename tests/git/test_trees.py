"""Trees: listing and lookup of paths."""

from itertools import count

import pytest

from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_id_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees import entries, totals
from ingot.git.trees.entries import TreeEntry, entry_or_none
from ingot.git.trees.listing import list_tree
from ingot.git.trees.totals import TooManyFolders
from tests.git.conftest import git
from tests.git_history import History, run


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def _tip(repository: Repository) -> str:
    tip = commit_id_or_none(repository, "HEAD")
    assert tip is not None
    return tip


def _by_git(repository: Repository, *options: str) -> list[tuple[int, str, bytes]]:
    said = git(repository.path, "ls-tree", "-z", *options, "HEAD").split("\0")
    rows = [(int(line[:6], 8), line.split(" ")[1], line[12:].split("\t")) for line in said if line]
    return [
        (mode, rest[0].split(" ")[-1], rest[1].encode("utf-8", "surrogateescape"))
        for kind in ("tree", "blob", "commit")
        for mode, found, rest in rows
        if found == kind
    ]


def _whole(repository: Repository, size: int, *, recursive: bool) -> list[TreeEntry]:
    listed: list[TreeEntry] = []
    for page in count():
        window = list_tree(repository, _tip(repository), b"", page * size, size, recursive=recursive)
        assert window is not None
        assert len(window.entries) <= size
        listed += window.entries
        if not window.entries:
            assert window.total == len(listed)
            return listed
    raise AssertionError


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_match_gits_listing(repository: Repository, size: int) -> None:
    history = History()
    names = ["a", "a.b", "a-b/x", "ab/y", "b/a/a", "b/a/b/c", "b/c", "b/d/e", "c/d/e/f/g", "z", "zz/a"]
    modules = {"m": ("160000", "1" * 40), "b/m": ("160000", "2" * 40), "b/a/m": ("160000", "3" * 40)}
    history.commit(files={**{name: name for name in names}, **modules, "b/l": ("120000", "x"), "b/p": ("100755", "x")})
    history.into(repository)

    for recursive, options in ((False, ()), (True, ("-r", "-t"))):
        listed = _whole(repository, size, recursive=recursive)
        assert [tuple(entry) for entry in listed] == _by_git(repository, *options)


def test_a_hundred_thousand_files_are_paginated_without_reading_all(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History()
    history.commit(files={"some": "x"})
    history.into(repository)
    blob = run(repository.path, "rev-parse", "HEAD:some")
    lines = "".join(f"100644 blob {blob}\tfile-{number:06}\n" for number in range(100_000))
    flat = run(repository.path, "mktree", input=lines.encode())
    root = run(repository.path, "mktree", input=f"040000 tree {flat}\tbig\n100644 blob {blob}\tzzz\n".encode())
    commit = git(repository.path, "commit-tree", "-m", "x", root)
    made = 0
    plain = entries.ParsedTree.entry

    def counted(tree: entries.ParsedTree, place: int, above: bytes) -> TreeEntry:
        nonlocal made
        made += 1
        return plain(tree, place, above)

    monkeypatch.setattr(entries.ParsedTree, "entry", counted)
    for recursive, total in ((False, 100_000), (True, 100_000)):
        window = list_tree(repository, commit, b"big", 99_990, 20, recursive=recursive)
        assert window is not None
        assert (window.total, len(window.entries)) == (total, 10)
        assert window.entries[-1].path == b"big/file-099999"
    found = entry_or_none(repository, commit, b"big/file-054321")
    assert found is not None
    assert found.oid == blob
    assert entry_or_none(repository, commit, b"big/file-1") is None
    assert made < 100


def test_large_trees_are_not_read_on_an_event_loop(repository: Repository) -> None:
    history = History()
    history.commit(files={f"{number:03}-{'x' * 200}": "x" for number in range(400)})
    history.into(repository)
    tip = _tip(repository)

    with forbid_blocking(), pytest.raises(WouldBlock):
        entry_or_none(repository, tip, b"nothing")
    assert entry_or_none(repository, tip, b"nothing") is None
    with forbid_blocking():
        assert entry_or_none(repository, tip, b"nothing") is None


def test_a_name_within_an_id_is_not_an_entry(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of an id may look like the start of an entry."""
    monkeypatch.setattr(entries, "_LARGE_BYTES", 0)
    history = History()
    history.commit(files={"module": ("160000", b" x\0 y\0100644 z\0......".hex()[:40].ljust(40, "0")), "w": "w"})
    history.into(repository)

    for name in (b"x", b"y", b"z"):
        assert entry_or_none(repository, _tip(repository), name) is None
    assert entry_or_none(repository, _tip(repository), b"w") is not None
    assert entry_or_none(repository, _tip(repository), b"module") is not None


def test_too_many_folders_are_rejected(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History()
    history.commit(files={f"{number}/{number}": str(number) for number in range(30)})
    history.into(repository)
    monkeypatch.setattr(totals, "MAX_FOLDERS", 20)

    with pytest.raises(TooManyFolders):
        list_tree(repository, _tip(repository), b"", 0, 20, recursive=True)


def test_a_tree_deeper_than_the_stack(repository: Repository) -> None:
    history = History()
    history.commit(files={"a/" * 1500 + "end": "x"})
    history.into(repository)

    window = list_tree(repository, _tip(repository), b"", 1500, 20, recursive=True)

    assert window is not None
    assert (window.total, [entry.path for entry in window.entries]) == (1501, [b"a/" * 1500 + b"end"])


@pytest.mark.parametrize(
    "path", [b"", b"/", b"a//b", b"a/", b"/a", b"nowhere", b"a/b/c/d", b"f/x", b".", b"..", b"a\0b"]
)
def test_missing_paths(repository: Repository, path: bytes) -> None:
    history = History()
    history.commit(files={"a/b/c": "x", "f": "x"})
    history.into(repository)

    assert entry_or_none(repository, _tip(repository), path) is None


def test_names_in_other_encodings(repository: Repository) -> None:
    history = History()
    history.commit(files={"caf\udce9/\udcff": "x"})
    history.into(repository)

    found = entry_or_none(repository, _tip(repository), b"caf\xe9/\xff")

    assert found is not None
    assert (found.name, found.mode) == (b"\xff", 0o100644)
