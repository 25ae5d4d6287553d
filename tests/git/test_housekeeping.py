"""Housekeeping: repacks, and loses no object."""

import fcntl
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingot.git.core.errors import GitError
from ingot.git.maintenance import housekeeping
from ingot.git.maintenance.housekeeping import STALE_LOCK_SECONDS, STALE_SECONDS, prune_temporary, run_housekeeping
from ingot.git.maintenance.store import RepositoryStore
from tests.git.conftest import Clone, git


def test_many_packs_become_few(store: RepositoryStore, key: str, clone: Clone) -> None:
    """With a multi-pack-index and its bitmap, a commit graph, and packed refs; all objects are kept."""
    path = store.path_of(key)
    for number in range(6):
        clone.commit(content=f"{number}\n")
        clone.push(path, "HEAD:refs/heads/master", f"HEAD:refs/heads/b{number}")
    before = store.open(key).refs()
    assert len(list(path.glob("objects/pack/*.pack"))) == 6

    assert run_housekeeping(path)

    assert len(list(path.glob("objects/pack/*.pack"))) < 3
    assert (path / "objects/pack/multi-pack-index").is_file()
    assert list(path.glob("objects/pack/multi-pack-index-*.bitmap"))
    assert (path / "objects/info/commit-graph").is_file()
    assert not [file for file in path.glob("refs/heads/**/*") if file.is_file()]
    assert store.open(key).refs() == before
    assert store.open(key).commit_count() == 6
    git(path, "fsck", "--strict")
    git(path, "multi-pack-index", "verify")
    assert run_housekeeping(path)


def test_a_commit_graph_without_filters(
    store: RepositoryStore, key: str, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: a commit with ten billion folders, each of which git would read for the filter of changed paths."""
    path = store.path_of(key)
    clone.commit()
    clone.push(path)
    graph = path / "objects/info/commit-graph"
    assert run_housekeeping(path) and b"BIDX" in graph.read_bytes()
    tree = git(path, "mktree", text="")
    for _ in range(10):
        tree = git(path, "mktree", text="".join(f"040000 tree {tree}\td{number}\n" for number in range(10)))
    tip = git(path, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "Bomb", tree)
    git(path, "update-ref", "refs/heads/bomb", tip)
    monkeypatch.setattr(housekeeping, "_MIN_FILTER_SECONDS", 0.5)
    assert run_housekeeping(path) and b"BIDX" not in graph.read_bytes()
    assert bytes.fromhex(tip) in graph.read_bytes()


def test_loose_objects_are_packed(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Unreachable ones included, because a ref may be about to be created."""
    path = store.path_of(key)
    git(path, "config", "transfer.unpackLimit", "1000")
    clone.commit()
    clone.push(path)
    lonely = git(path, "hash-object", "-w", "--stdin", text="not yet referenced\n")
    assert run_housekeeping(path)
    assert git(path, "cat-file", "-p", lonely) == "not yet referenced"
    assert git(path, "count-objects").startswith("0 objects") or (path / "objects" / lonely[:2] / lonely[2:]).exists()


def test_housekeeping_of_an_empty_repository(store: RepositoryStore, key: str) -> None:
    """It does nothing."""
    assert run_housekeeping(store.path_of(key))
    assert store.open(key).is_empty()


def test_concurrent_housekeeping(store: RepositoryStore, key: str) -> None:
    """The second run skips, and no lock outlives its holder."""
    descriptor = os.open(store.path_of(key) / "ingot-housekeeping", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert not run_housekeeping(store.path_of(key))
    os.close(descriptor)
    assert run_housekeeping(store.path_of(key))


def test_old_leftovers_of_killed_processes_are_removed(store: RepositoryStore, key: str) -> None:
    """Partial packs and objects, quarantines and locks; those of running processes stay."""
    path = store.path_of(key)
    (path / "objects/ab").mkdir()
    (path / "objects/tmp_objdir-incoming-abc/pack").mkdir(parents=True)
    temporary = [
        path / "objects/pack/tmp_pack_abc",
        path / "objects/ab/tmp_obj_abc",
        path / "objects/tmp_objdir-incoming-abc/pack/tmp_pack_x",
        path / "objects/pack/.tmp-1-pack-x.idx",
        path / "tmp_HEAD_0",
    ]
    locks = [path / "packed-refs.lock", path / "HEAD.lock", path / "refs/heads/x.lock", path / "config.lock"]
    for file in temporary + locks:
        file.write_text("x")
    now = time.time()

    assert prune_temporary(path, now) == []
    assert prune_temporary(path, now + STALE_LOCK_SECONDS + 60)
    assert [file.exists() for file in temporary + locks] == [True] * 5 + [False] * 4
    assert prune_temporary(path, now + STALE_SECONDS + 60)
    assert not any(file.exists() for file in temporary)
    assert not (path / "objects/tmp_objdir-incoming-abc").exists()
    assert (path / "HEAD").exists()


def test_a_stale_lock_is_removed(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Otherwise a killed pack-refs would end the housekeeping for good."""
    clone.commit()
    path = store.path_of(key)
    clone.push(path)
    lock = path / "packed-refs.lock"
    lock.write_text("")
    git(path, "config", "core.packedRefsTimeout", "1")
    with pytest.raises(GitError):
        run_housekeeping(path)
    os.utime(lock, (1, 1))
    assert run_housekeeping(path)


def test_housekeeping_during_pushes(store: RepositoryStore, key: str, tmp_path: Path) -> None:
    """No push fails or is lost."""
    path = store.path_of(key)
    over = threading.Event()

    def clean() -> int:
        count = 0
        while not over.is_set():
            count += run_housekeeping(path)
        return count

    def push(number: int) -> dict[bytes, str]:
        person = Clone(tmp_path / f"person{number}")
        pushed = {}
        for count in range(8):
            pushed[f"refs/heads/{number}-{count}".encode()] = person.commit(content=f"{number} {count}\n")
            person.push(path, f"HEAD:refs/heads/{number}-{count}")
        return pushed

    with ThreadPoolExecutor() as pool:
        cleaning = pool.submit(clean)
        pushes = [pool.submit(push, number) for number in range(2)]
        try:
            pushed = {name: oid for future in pushes for name, oid in future.result().items()}
        finally:
            over.set()
    assert cleaning.result() > 0
    assert store.open(key).refs() == dict(sorted(pushed.items()))
    git(path, "fsck", "--strict")
