"""Basic operations of a repository."""

from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from ingot.git.core.errors import DamagedRepository, GitError
from ingot.git.core.refs import read_refs
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefMoved, create_ref
from tests.git.conftest import Clone, git


def test_an_empty_repository(store: RepositoryStore, key: str) -> None:
    """It has a HEAD and no refs."""
    repository = store.open(key)
    assert repository.is_empty()
    assert not repository.branches_exist()
    assert repository.head_branch() == "master"
    assert repository.refs() == {}
    assert repository.tip("refs/heads/master") is None
    assert repository.commit_count() == 0
    assert repository.languages() == {}
    assert repository.size_bytes() > 0


@pytest.mark.parametrize("packed", [False, True])
def test_refs(store: RepositoryStore, key: str, clone: Clone, packed: bool) -> None:
    """Loose and packed ones are equivalent, and match git."""
    path, repository = store.path_of(key), store.open(key)
    first = clone.commit()
    clone.push(path, "HEAD:refs/tags/v1")
    assert not repository.is_empty()
    assert not repository.branches_exist()
    second = clone.commit(content="two\n")
    clone.push(path, "HEAD:refs/heads/master", "HEAD:refs/heads/feature/é")
    if packed:
        git(path, "pack-refs", "--all")
    assert repository.branches_exist()
    assert repository.branch_exists("feature/é")
    assert not repository.branch_exists("feature")
    assert not repository.branch_exists("v1")
    assert repository.tip("refs/heads/master") == repository.tip(b"refs/heads/feature/\xc3\xa9") == second
    assert repository.tip("refs/tags/v1") == first
    assert repository.commit_count() == 2
    listed = [line.split(" ", 1) for line in git(path, "show-ref").splitlines()]
    assert list(repository.refs().items()) == [(name.encode(), oid) for oid, name in listed]


@pytest.mark.parametrize("links", [True, False])
def test_a_ref_that_is_created_without_git(store: RepositoryStore, key: str, clone: Clone, links: bool) -> None:
    """git reads it; one that exists stays, also a packed one. A file system may have no hard links."""
    path, repository, name = store.path_of(key), store.open(key), "refs/merge-requests/7/train"
    first, second = clone.commit(), clone.commit(content="two\n")
    clone.push(path)
    refused = nullcontext() if links else patch.object(Path, "hardlink_to", side_effect=PermissionError)
    with refused:
        create_ref(repository, name, first)
        assert git(path, "rev-parse", name) == repository.tip(name) == first
        for _ in range(2):
            with pytest.raises(RefMoved):
                create_ref(repository, name, second)
            git(path, "pack-refs", "--all")
    assert repository.tip(name) == first
    assert list(path.glob("tmp_ref_*")) == []


def test_a_loose_ref_takes_precedence_over_a_packed_one(store: RepositoryStore, key: str, clone: Clone) -> None:
    """It is newer; a deleted one is removed from both."""
    path, repository = store.path_of(key), store.open(key)
    clone.commit()
    clone.push(path)
    git(path, "pack-refs", "--all")
    newer = clone.commit(content="two\n")
    clone.push(path)
    assert repository.tip("refs/heads/master") == newer
    assert repository.refs() == {b"refs/heads/master": newer}
    git(path, "update-ref", "-d", "refs/heads/master")
    assert repository.refs() == {}


def test_unsorted_packed_refs(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Written by another program: lookups still find the exact name."""
    path, repository = store.path_of(key), store.open(key)
    tip = clone.commit()
    clone.push(path)
    git(path, "pack-refs", "--all")
    other = "1" * 40
    lines = [f"{tip} refs/heads/z", f"{other} refs/tags/t", f"^{tip}", f"{tip} refs/heads/a", f"{tip} refs/keep/x"]
    (path / "packed-refs").write_text("\n".join(lines))  # The last line has no newline either.
    heads = {b"refs/heads/a": tip, b"refs/heads/z": tip}
    assert list(read_refs(path, (b"refs/heads/",)).items()) == list(heads.items())
    assert read_refs(path, (b"refs/tags/",)) == {b"refs/tags/t": other}
    assert read_refs(path, (b"refs/heads/", b"refs/tags/")) == {**heads, b"refs/tags/t": other}
    assert read_refs(path, (b"refs/none/",)) == {}
    assert set(repository.refs()) >= {*heads, b"refs/tags/t"}


@pytest.mark.parametrize(
    "name",
    ["../../config", "../../HEAD", "", ".", "..", "master/../master", "master\n", "mas*er", "\0", "\ud800", "x" * 300],
)
def test_names_cannot_leave_the_refs_folder(store: RepositoryStore, key: str, clone: Clone, name: str) -> None:
    """Attack: read another file of the repository as a branch."""
    clone.commit()
    clone.push(store.path_of(key))
    repository = store.open(key)
    assert repository.branch_exists("master")
    assert not repository.branch_exists(name)
    assert repository.tip(name) is None


def test_broken_files_are_skipped(store: RepositoryStore, key: str, clone: Clone) -> None:
    """An empty ref, as left by a power cut, hides no other; a broken HEAD is reported."""
    oid = clone.commit()
    clone.push(store.path_of(key))
    path, repository = store.path_of(key), store.open(key)
    (path / "refs/heads/empty").write_text("")
    (path / "refs/heads/master.lock").write_text("")
    (path / "refs/heads/alias").write_text("ref: refs/heads/master\n")
    assert repository.refs() == {b"refs/heads/alias": oid, b"refs/heads/master": oid}
    assert repository.tip("refs/heads/alias") == oid
    assert not repository.branch_exists("empty")
    for text in ("", "ref: refs/tags/x\n", "ref: refs/heads/../../x\n", oid):
        (path / "HEAD").write_text(text)
        with pytest.raises(DamagedRepository):
            repository.head_branch()


def test_set_head(store: RepositoryStore, key: str, clone: Clone) -> None:
    """git sees the new branch, invalid names change nothing, and stale locks do not prevent it."""
    path, repository = store.path_of(key), store.open(key)
    (path / "HEAD.lock").write_text("")
    repository.set_head("feature/é")
    assert repository.head_branch() == "feature/é"
    assert git(path, "symbolic-ref", "HEAD") == "refs/heads/feature/é"
    with pytest.raises(ValueError, match="called"):
        repository.set_head("../x")
    assert repository.head_branch() == "feature/é"
    assert [file.name for file in path.iterdir() if file.name.startswith("tmp_")] == []


def test_size(store: RepositoryStore, key: str, clone: Clone) -> None:
    """It grows with pushes."""
    before = store.open(key).size_bytes()
    clone.commit("noise", "".join(str(number * number) for number in range(20_000)))
    clone.push(store.path_of(key))
    assert store.open(key).size_bytes() > before + 10_000


def test_languages(store: RepositoryStore, key: str, clone: Clone) -> None:
    """By bytes of code; without vendored folders, generated or huge files, binaries, symlinks and prose."""
    clone.commit("src/main.py", "x" * 750)
    clone.commit("lib/a.C", "y" * 200)
    clone.commit("Makefile", "z" * 50)
    for file in ("README.md", "data.json", "node_modules/a/index.js", "web/vendor/x.js", "jquery.min.js", "LICENSE"):
        clone.commit(file, "w" * 5000)
    clone.commit("movie.ts", "\0" * 5000)
    clone.commit("dump.sql", "s" * (1024 * 1024 + 1))
    (clone.folder / "link.rb").symlink_to("src/main.py")
    git(clone.folder, "add", "link.rb")
    clone.commit("empty.go", "")
    clone.push(store.path_of(key))
    assert store.open(key).languages() == {"Python": 75.0, "C": 20.0, "Makefile": 5.0}


def test_a_tree_bomb_is_scanned_partially(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Attack: ten trees, each containing the next one ten times, expand to ten billion folders."""
    path = store.path_of(key)
    blob = git(path, "hash-object", "-w", "--stdin", text="print()\n")
    tree = git(path, "mktree", text="".join(f"100644 blob {blob}\tf{n}.py\n" for n in range(10)))
    for _ in range(10):
        tree = git(path, "mktree", text="".join(f"040000 tree {tree}\td{n}\n" for n in range(10)))
    commit = git(path, "commit-tree", tree, text="bomb")
    git(path, "update-ref", "refs/heads/master", commit)
    assert store.open(key).languages() == {}


def test_an_enclosing_repository_is_never_used(tmp_path: Path) -> None:
    """With a data directory inside a checkout, a broken repository must not resolve to the checkout."""
    outer = Clone(tmp_path / "outer")
    outer.commit()
    store = RepositoryStore(outer.folder / "data")
    store.create("a" * 64, "master")
    path = store.path_of("a" * 64)
    (path / "refs/heads/master").write_text(git(outer.folder, "rev-parse", "HEAD") + "\n")
    with pytest.raises(GitError):
        store.open("a" * 64).commit_count()
