"""Repository store: repositories are created and removed completely or not at all."""

import os
from pathlib import Path

import pytest

from ingot.git.core.errors import MissingRepository
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.git.conftest import Clone, files_in, git
from tests.git.kill_points import killed_at_each_step


def test_a_new_repository_is_valid(store: RepositoryStore, clone: Clone, tmp_path: Path) -> None:
    """git fsck passes, and push and clone work."""
    key = new_key()
    store.create(key, "trunk")

    path = store.path_of(key)
    assert path == store.root / key[:2] / key[2:4] / f"{key}.git"
    assert git(path, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert git(path, "rev-parse", "--is-bare-repository") == "true"
    git(path, "fsck", "--strict")

    oid = clone.commit()
    clone.push(path, "HEAD:refs/heads/trunk")
    git(tmp_path, "clone", "-q", path, "copy")
    assert git(tmp_path / "copy", "rev-parse", "HEAD") == oid


def test_settings_of_a_repository(store: RepositoryStore, key: str) -> None:
    """Objects and refs are synced and checked, no automatic gc, no hooks from the repository."""
    path = store.path_of(key)
    for name, value in {
        "core.fsync": "all",
        "core.hooksPath": "/dev/null",
        "transfer.fsckObjects": "true",
        "receive.autogc": "false",
        "gc.auto": "0",
    }.items():
        assert git(path, "config", name) == value
    assert git(path, "config", "--get-all", "transfer.hideRefs").split() == ["refs/keep", "refs/intents"]


def test_a_hook_inside_the_repository_does_not_run(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Attack: write a file into hooks/."""
    hook = store.path_of(key) / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    clone.commit()
    clone.push(store.path_of(key))


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_internal_refs_are_neither_listed_nor_served(
    store: RepositoryStore, key: str, clone: Clone, version: str
) -> None:
    """Attack: list, fetch or push internal refs. Other refs work."""
    path = store.path_of(key)
    oid = clone.commit()
    clone.push(path)
    git(path, "update-ref", "refs/keep/1", oid)
    git(path, "update-ref", "refs/intents/1", oid)
    protocol = ("-c", f"protocol.version={version}")

    listed = git(clone.folder, *protocol, "ls-remote", path)
    assert "refs/heads/master" in listed
    assert "refs/keep" not in listed
    assert "refs/intents" not in listed
    git(clone.folder, *protocol, "fetch", path, "refs/heads/master")
    git(clone.folder, *protocol, "fetch", path, "refs/keep/1", fails=True)
    for ref in ("refs/keep/2", "refs/intents/1", "refs/merge-requests/1/head"):
        assert "hidden ref" in clone.push(path, f"HEAD:{ref}", fails=True)


@pytest.mark.parametrize("bad", ["", "abc", "../" * 21 + "x", "A" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n"])
def test_only_keys_are_mapped_to_paths(store: RepositoryStore, bad: str) -> None:
    """No other value names a folder."""
    with pytest.raises(ValueError, match="64"):
        store.path_of(bad)
    assert store.path_of("0" * 64)


def test_a_key_is_used_once(store: RepositoryStore, key: str) -> None:
    """Neither creation nor a fork replaces an existing repository."""
    before = files_in(store.root)
    with pytest.raises(FileExistsError):
        store.create(key, "main")
    with pytest.raises(FileExistsError):
        store.fork(key, key)
    assert files_in(store.root) == before
    with pytest.raises(ValueError, match="called"):
        store.create(new_key(), "--upload-pack=x")


def test_removal_is_complete_and_idempotent(store: RepositoryStore, key: str, clone: Clone) -> None:
    """Removing a missing repository is no error."""
    clone.commit()
    clone.push(store.path_of(key))
    assert store.exists(key)
    for _ in range(2):
        store.remove(key)
        assert not store.exists(key)
    store.remove(new_key())
    assert files_in(store.root) == []
    with pytest.raises(MissingRepository):
        store.open(key)


def test_keys_lists_repositories_only(store: RepositoryStore) -> None:
    """No unfinished ones, trash or other files."""
    assert list(store.keys()) == []
    keys = {new_key() for _ in range(5)}
    for key in keys:
        store.create(key, "master")
    (store.root / "lost+found").mkdir()
    store.path_of(new_key()).with_suffix(".0123456789abcdef.tmp").mkdir(parents=True)
    (store.root / ".trash" / "x").mkdir(parents=True)
    assert set(store.keys()) == keys


def test_cleanup_removes_unknown_repositories(store: RepositoryStore) -> None:
    """Old orphans, unfinished ones and trash are removed; known, recent and other files stay."""
    known, orphan = new_key(), new_key()
    for key in (known, orphan):
        store.create(key, "master")
    temporary = store.path_of(known).with_suffix(".0123456789abcdef.tmp")
    temporary.mkdir()
    trash = store.root / ".trash" / "x"
    trash.mkdir(parents=True)
    stranger = store.path_of(known).parent / "notes.txt"
    stranger.write_text("mine")

    assert store.sweep(lambda key: key == known, 3600) == []
    assert store.exists(orphan)
    swept = store.sweep(lambda key: key == known, 0)
    assert set(swept) == {f"{orphan}.git", temporary.name, "x"}
    assert set(store.keys()) == {known}
    assert not temporary.exists()
    assert not trash.exists()
    assert stranger.exists()


def test_a_killed_creation_is_complete_or_missing(store: RepositoryStore) -> None:
    """SIGKILL at each step; the cleanup removes the rest."""
    whole = []
    for key in killed_at_each_step(store.root, "store.create(key, 'master')"):
        whole.append(store.exists(key))
        if whole[-1]:
            git(store.path_of(key), "fsck", "--strict")
        store.sweep(lambda _: False, 0)
        assert files_in(store.root) == []
    assert len(whole) > 8
    assert whole[-2:] == [True, True]  # Killed before the last step, a sync of the disk; and not killed.
    assert not any(whole[:-2])


def test_a_repository_of_another_user_can_be_opened(store: RepositoryStore, key: str, clone: Clone) -> None:
    """On a shared volume files may belong to others; git's ownership check is for user directories."""
    clone.commit("main.c", "int main;\n")
    clone.push(store.path_of(key))
    if os.geteuid() == 0:
        for path in (store.path_of(key), *store.path_of(key).rglob("*")):
            os.chown(path, 12345, 12345)
    repository = store.open(key)
    assert repository.commit_count() == 1
    assert repository.languages() == {"C": 100.0}
    fork = new_key()
    store.fork(key, fork)
    assert store.open(fork).commit_count() == 1
