"""Forks: branches and tags of the source, sharing its files on disk."""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingot.git.core.errors import DamagedRepository, GitError, MissingRepository
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.git.conftest import Clone, files_in, git
from tests.git.kill_points import killed_at_each_step


def fork(store: RepositoryStore, source: str) -> str:
    """Fork a repository and return the new key."""
    key = new_key()
    store.fork(source, key)
    git(store.path_of(key), "fsck", "--strict")
    return key


@pytest.fixture
def full(store: RepositoryStore, key: str, clone: Clone) -> str:
    """Return a repository with packed and loose refs, tags of both kinds, packs and loose objects."""
    path = store.path_of(key)
    clone.commit()
    git(clone.folder, "tag", "light")
    git(clone.folder, "tag", "-a", "-m", "one", "annotated")
    clone.push(path, "master", "light", "annotated")
    git(path, "pack-refs", "--all")
    clone.commit(content="two\n")
    git(clone.folder, "tag", "-a", "-m", "two", "later")
    git(path, "config", "transfer.unpackLimit", "1000")
    clone.push(path, "master", "later", "master:refs/heads/feature/x")
    git(path, "config", "transfer.unpackLimit", "1")
    return key


def test_a_fork_has_branches_tags_and_head(store: RepositoryStore, full: str) -> None:
    """As listed by git, with peeled tags."""
    git(store.path_of(full), "symbolic-ref", "HEAD", "refs/heads/feature/x")
    key = fork(store, full)
    assert git(store.path_of(key), "show-ref", "-d") == git(store.path_of(full), "show-ref", "-d")
    assert store.open(key).head_branch() == "feature/x"
    assert len(store.open(key).refs()) == 5


def test_a_fork_takes_no_space_and_outlives_its_source(store: RepositoryStore, full: str) -> None:
    """Packs and loose objects are hard links; deleting the source removes nothing from the fork."""
    key = fork(store, full)
    shared = [path.stat().st_nlink for path in (store.path_of(key) / "objects").rglob("*") if path.is_file()]
    assert shared
    assert set(shared) == {2}
    listed = git(store.path_of(key), "show-ref")
    store.remove(full)
    git(store.path_of(key), "fsck", "--strict")
    assert git(store.path_of(key), "show-ref") == listed


def test_a_repacked_source_can_be_forked(store: RepositoryStore, full: str) -> None:
    """Its multi-pack-index is not copied, because it names packs that the fork may drop; its commit graph is."""
    run_housekeeping(store.path_of(full))
    key = fork(store, full)
    assert (store.path_of(key) / "objects/info/commit-graph").is_file()
    assert not (store.path_of(key) / "objects/pack/multi-pack-index").exists()
    git(store.path_of(key), "commit-graph", "verify")
    assert store.open(key).commit_count() == 2
    run_housekeeping(store.path_of(key))
    git(store.path_of(full), "fsck", "--strict")
    git(store.path_of(key), "fsck", "--strict")


def test_internal_refs_are_not_copied(store: RepositoryStore, full: str) -> None:
    """Refs of merge requests and internal refs, loose or packed."""
    path = store.path_of(full)
    tip = git(path, "rev-parse", "master")
    for packed in (True, False):
        for ref in ("refs/keep/1", "refs/intents/1", "refs/merge-requests/1/head"):
            git(path, "update-ref", f"{ref}{packed}", tip)
        if packed:
            git(path, "pack-refs", "--all")
    names = store.open(fork(store, full)).refs()
    assert b"refs/heads/master" in names
    assert {name.split(b"/")[1] for name in names} == {b"heads", b"tags"}


def test_objects_of_internal_refs_are_not_copied(store: RepositoryStore, full: str, clone: Clone) -> None:
    """git serves every object of a repository by its id."""
    path = store.path_of(full)
    tip = git(path, "rev-parse", "master")
    hidden = clone.commit(content="of a private fork\n")
    git(path, "fetch", "-q", clone.folder, "HEAD:refs/merge-requests/1/head")
    for _ in range(2):
        copy = store.path_of(fork(store, full))
        assert git(copy, "rev-parse", "master") == tip
        assert git(copy, "show-ref", "-d", "--heads", "--tags") == git(path, "show-ref", "-d", "--heads", "--tags")
        assert hidden not in git(copy, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
        run_housekeeping(path)


def test_an_empty_repository_can_be_forked(store: RepositoryStore) -> None:
    """The fork's first branch has the same name."""
    key = new_key()
    store.create(key, "trunk")
    copy = store.open(fork(store, key))
    assert copy.is_empty()
    assert copy.head_branch() == "trunk"


@pytest.fixture
def other_file_system() -> Iterator[Path]:
    """Yield a folder on another file system."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no second file system")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


def test_across_file_systems_a_fork_is_a_copy(store: RepositoryStore, full: str, other_file_system: Path) -> None:
    """As with a store on several volumes."""
    if other_file_system.stat().st_dev == store.root.stat().st_dev:
        pytest.skip("there is no second file system")
    shard = "00" if full[:2] != "00" else "01"
    (store.root / shard).symlink_to(other_file_system)
    key = shard + new_key()[2:]
    store.fork(full, key)
    git(store.path_of(key), "fsck", "--strict")
    assert git(store.path_of(key), "show-ref", "-d") == git(store.path_of(full), "show-ref", "-d")
    store.remove(full)
    assert store.open(key).commit_count() == 2


def test_objects_of_alternates_are_fetched(store: RepositoryStore, full: str) -> None:
    """They cannot be linked."""
    borrower = new_key()
    store.create(borrower, "master")
    path = store.path_of(borrower)
    (path / "objects/info/alternates").write_text(f"{store.path_of(full)}/objects\n")
    for line in git(store.path_of(full), "show-ref").splitlines():
        oid, ref = line.split()
        git(path, "update-ref", ref, oid)
    key = fork(store, borrower)
    store.remove(full)
    git(store.path_of(key), "fsck", "--strict")
    assert len(store.open(key).refs()) == 5


def test_a_damaged_source_is_an_error(store: RepositoryStore, full: str) -> None:
    """No incomplete fork is created, and a missing source is rejected."""
    before = files_in(store.root)
    with pytest.raises(MissingRepository):
        store.fork(new_key(), new_key())
    (store.path_of(full) / "refs/heads/broken").write_text("1" * 40 + "\n")
    with pytest.raises(GitError):
        store.fork(full, new_key())
    (store.path_of(full) / "refs/heads/broken").unlink()
    (store.path_of(full) / "HEAD").write_text("")
    with pytest.raises(DamagedRepository):
        store.fork(full, new_key())
    assert files_in(store.root) == before


def test_a_killed_fork_is_complete_or_missing(store: RepositoryStore, full: str) -> None:
    """SIGKILL at each step; the cleanup removes the rest."""
    before = files_in(store.root)
    listed = git(store.path_of(full), "show-ref")
    whole = []
    for key in killed_at_each_step(store.root, f"store.fork({full!r}, key)"):
        whole.append(store.exists(key))
        if whole[-1]:
            assert git(store.path_of(key), "show-ref") == listed
        store.sweep(lambda key: key == full, 0)
        assert files_in(store.root) == before
    assert len(whole) > 20
    assert whole[-2:] == [True, True]
    assert not any(whole[:-2])


def test_forks_during_pushes_and_housekeeping(store: RepositoryStore, full: str, tmp_path: Path) -> None:
    """Every fork is a past state of the source, with all its objects."""
    path = store.path_of(full)
    over = threading.Event()

    def push(number: int) -> None:
        person = Clone(tmp_path / f"person{number}")
        count = 0
        while not over.is_set():
            count += 1
            person.commit(content=f"{number} {count}\n")
            person.push(path, f"HEAD:refs/heads/line{number}", f"HEAD:refs/heads/line{number}-{count}")

    def clean() -> None:
        while not over.is_set():
            run_housekeeping(path)

    with ThreadPoolExecutor() as pool:
        works = [pool.submit(push, 1), pool.submit(push, 2), pool.submit(clean)]
        try:
            seen = 0
            while seen < 20:
                refs = store.open(fork(store, full)).refs()
                assert len(refs) >= seen
                seen = len(refs)
        finally:
            over.set()
    for work in works:
        work.result()
    git(path, "fsck", "--strict")
