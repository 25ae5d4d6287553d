"""Store of repositories on one or several disks: atomic creation, forks, moves and removal."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from ingot.core.cache import CopiesSize, CopyStats
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.storage.folders import sync_folder
from ingot.git.core.errors import MissingRepository
from ingot.git.core.layout import make_bare_repository
from ingot.git.core.names import ref_name_error
from ingot.git.core.ref_store import RefStore
from ingot.git.core.repository import Repository
from ingot.git.maintenance.fork import fill_fork

STORAGE_MARK = ".ingot-storage"
DEFAULT_STORAGE = "default"
"""Name of the storage in the data directory; the others are named in the settings."""
_KEY = re.compile(r"(?:([a-z][a-z0-9_-]{0,62}):)?([0-9a-f]{64})")
_SHARD = re.compile(r"[0-9a-f]{2}")
_REPOSITORY = re.compile(r"([0-9a-f]{64})\.git")
_TEMPORARY = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{16}\.tmp")
_TRASH = ".trash"
_MAX_ATTEMPTS = 3
_MAX_CACHED_PATHS = 4096


class BucketStorage(Protocol):
    """Repositories of one storage in a bucket; their directories are copies."""

    def stats(self) -> CopyStats:
        """Return how often copies were up to date in this process, and what it has downloaded."""

    def cache_size(self) -> CopiesSize:
        """Return the number and size of the copies on this machine, as of the last minute."""

    def exists(self, key: str) -> bool:
        """Return whether a repository exists."""

    def refs_of(self, key: str, path: Path) -> RefStore:
        """Return the refs of a repository."""

    def head_branch(self, key: str) -> str:
        """Return the short name of the branch that HEAD points at; raise ``MissingRepository``."""

    def refresh(self, key: str, path: Path) -> None:
        """Bring the copy at a path up to date; raise ``MissingRepository``."""

    def create(self, key: str, head: str) -> None:
        """Create an empty repository."""

    def adopt(self, key: str, folder: Path) -> None:
        """Store the repository in a folder under a new key."""

    def store_packs(self, folder: Path) -> None:
        """Upload the packs of a folder ahead of its adoption."""

    def fork(self, source_key: str, source: Path, key: str) -> bool:
        """Create a fork that shares packs; return False if the packs have more than the fork may show."""

    def remove(self, key: str) -> None:
        """Delete a repository."""

    def problems(self) -> Iterator[str]:
        """Yield what is missing or damaged in the bucket."""

    def touch(self, key: str) -> None:
        """Treat a repository as if it had just changed."""

    def delete_unused_packs(self) -> None:
        """Delete packs that no repository has listed for a while, and objects that no row has."""

    def keys_unchanged_for(self, seconds: float) -> list[str]:
        """List the keys of repositories that have not changed for this long."""


def new_key(storage: str = DEFAULT_STORAGE) -> str:
    """Return a new random key in a storage; it is independent of the project's name, so renames move no files."""
    return key_in(storage, secrets.token_hex(32))


def key_in(storage: str, key: str) -> str:
    """Return the key of a repository after a move to another storage."""
    name = key.rpartition(":")[2]
    return name if storage == DEFAULT_STORAGE else f"{storage}:{name}"


def storage_of(key: str) -> str:
    """Return the name of the storage of a repository."""
    return key.rpartition(":")[0] or DEFAULT_STORAGE


class RepositoryStore:
    """Bare repositories under ``root/ab/cd/<digits of the key>.git``; any number of processes may share it.

    The key of a repository in another storage than the default one begins with the name of that storage and a colon.
    """

    def __init__(
        self,
        root: Path,
        others: Mapping[str, Path] | None = None,
        max_refs: int = 0,
        in_bucket: str = "",
        cache: Path | None = None,
    ) -> None:
        self.root = root
        self._prefix_in_bucket = f"{in_bucket}:" if in_bucket else ""
        """Beginning of the keys of repositories in the bucket; empty if there are none."""
        self._bucket: BucketStorage | None = None
        self.max_refs = max_refs
        self.roots = {DEFAULT_STORAGE: root, **(others or {})}
        """Directories of all storages, by name."""
        self._swept = [*self.roots.items(), *([] if cache is None else [(in_bucket, cache)])]
        # Building a path takes longer than most of the reads that follow.
        self.path_of = lru_cache(_MAX_CACHED_PATHS)(self._path_of)

    def _path_of(self, key: str) -> Path:
        """Return the path of the repository with this key, whether it exists or not."""
        match = _KEY.fullmatch(key)
        if match is None:
            raise ValueError("A repository's key has 64 hexadecimal digits")
        digits = match[2]
        return self._root_of(key) / digits[:2] / digits[2:4] / f"{digits}.git"

    def _root_of(self, key: str) -> Path:
        try:
            return self.roots[storage_of(key)]
        except KeyError:
            raise Unavailable(f"The repository storage {storage_of(key)} is not configured") from None

    def attach(self, bucket: BucketStorage) -> None:
        """Use a bucket for the storage that the settings name; its rows need a database, which is opened later."""
        self._bucket = bucket

    def is_in_bucket(self, key: str) -> bool:
        """Return whether the directory of a repository is only a copy."""
        return bool(self._prefix_in_bucket) and key.startswith(self._prefix_in_bucket)

    @property
    def has_bucket(self) -> bool:
        """Whether one of the storages is in a bucket."""
        return bool(self._prefix_in_bucket)

    @property
    def in_bucket(self) -> BucketStorage:
        """Return the bucket; raise ``Unavailable`` in a program that has opened no database."""
        if self._bucket is None:
            raise Unavailable("The bucket of the repositories is not available to this program")
        return self._bucket

    @property
    def has_several(self) -> bool:
        """Whether there are several storages, between which repositories can be moved."""
        return len(self.roots) > 1

    def prepare(self, key: str, folder: Path) -> None:
        """Store the objects of a folder ahead of the end of ``new_repository``, where that takes long."""
        if self.is_in_bucket(key):
            self.in_bucket.store_packs(folder)

    def keep(self, key: str) -> None:
        """Let the sweep keep a repository without a row for as long as a new one."""
        if self.is_in_bucket(key):
            self.in_bucket.touch(key)
        else:
            os.utime(self.path_of(key))

    def exists(self, key: str) -> bool:
        """Return whether a repository exists under this key."""
        if self.is_in_bucket(key):
            return self.in_bucket.exists(key)
        return (self.path_of(key) / "HEAD").is_file()

    def open(self, key: str) -> Repository:
        """Return the repository with this key, without opening files; raise ``MissingRepository``.

        The copy of a repository in a bucket is brought up to date, which may take long.
        """
        path = self.path_of(key)
        if self._prefix_in_bucket and key.startswith(self._prefix_in_bucket):
            return self._open_copy(key, path)
        if not os.path.isdir(str(path)):  # noqa: PTH112 - Ten times as fast as the method of Path, and called for every request.
            return self._find(key)
        return Repository(path, key=key if self.has_several else "", max_refs=self.max_refs)

    def _open_copy(self, key: str, path: Path) -> Repository:
        try:
            self.in_bucket.refresh(key, path)
        except MissingRepository:  # It may have been moved.
            return self._find(key)
        return Repository(path, key=key, max_refs=self.max_refs, ref_store=self.in_bucket.refs_of(key, path))

    def _find(self, key: str) -> Repository:
        """Return a repository that was moved after its key was read; raise ``MissingRepository`` or ``Unavailable``."""
        if self.has_several:
            if not self.is_available(storage_of(key)):
                raise Unavailable(f"The repository storage {storage_of(key)} is not available")
            for storage in self.roots:
                moved = key_in(storage, key)
                if moved != key and self.exists(moved):
                    return self.open(moved)
        raise MissingRepository(f"There is no repository {key}")

    def head_branch(self, key: str) -> str:
        """Return the short name of the branch that HEAD points at, without a copy of a repository in a bucket."""
        return self.in_bucket.head_branch(key) if self.is_in_bucket(key) else self.open(key).head_branch()

    def is_available(self, storage: str) -> bool:
        """Return whether the directory of a storage exists and is not the empty one below a missing mount."""
        if self.is_in_bucket(key_in(storage, "")):
            return True
        root = self.roots[storage]
        return (root / STORAGE_MARK).is_file() if storage != DEFAULT_STORAGE else root.parent.is_dir()

    def mark(self, storage: str) -> None:
        """Mark the directory of a new storage if it exists and is empty; later, one without the mark is not used.

        A directory whose disk is not mounted has no mark.
        """
        root = self.roots[storage]
        if self.is_in_bucket(key_in(storage, "")):
            return
        if storage != DEFAULT_STORAGE and root.is_dir() and not _entries(root):
            (root / STORAGE_MARK).write_text(f"Repositories of the storage {storage}\n")

    def create(self, key: str, default_branch: str) -> None:
        """Create an empty repository whose HEAD points at ``default_branch``."""
        if ref_name_error(default_branch) is not None:
            raise ValueError("The default branch cannot be called so")
        if self.is_in_bucket(key):
            self.in_bucket.create(key, default_branch)
            return
        with self.new_repository(key) as folder:
            make_bare_repository(folder, b"refs/heads/" + default_branch.encode())

    def fork(self, source_key: str, key: str) -> None:
        """Create a repository with the branches and tags of another one, sharing its packs."""
        both_in_bucket = self.is_in_bucket(source_key) and self.is_in_bucket(key)
        if both_in_bucket and self.in_bucket.fork(source_key, self.path_of(source_key), key):
            return
        source = self.open(source_key).path if self.is_in_bucket(source_key) else self.path_of(source_key)
        if not source.is_dir():
            raise MissingRepository(f"There is no repository {source_key}")
        with self.new_repository(key) as folder:
            fill_fork(source, folder)

    def remove(self, key: str) -> None:
        """Remove a repository; it is no error if it does not exist."""
        if self.is_in_bucket(key):
            self.in_bucket.remove(key)
        _move_to_trash(self._root_of(key), self.path_of(key))

    def keys(self) -> Iterator[str]:
        """Yield the keys of all repositories, in no order."""
        for storage, root in self.roots.items():
            for folder in _shards(root):
                for entry in _entries(folder):
                    match = _REPOSITORY.fullmatch(entry.name)
                    if match:
                        yield key_in(storage, match[1])

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """Yield an empty folder on the same disk and delete it afterwards; after a crash it is swept as trash."""
        folder = self.root / _TRASH / secrets.token_hex(16)
        folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            _delete(folder)

    def sweep(self, exists: Callable[[str], bool], older_than_seconds: float) -> list[str]:
        """Remove what crashes left: repositories without a row, unfinished ones and trash; return their names.

        A repository is created before its row is committed, so ``older_than_seconds`` must be longer than any
        transaction or copy takes.
        """
        cutoff = time.time() - older_than_seconds
        swept: list[str] = []
        if self._prefix_in_bucket:
            for key in self.in_bucket.keys_unchanged_for(older_than_seconds):
                if not exists(key):
                    self.remove(key)
                    swept.append(key)
        for storage, root in self._swept:
            for folder in _shards(root):
                for entry in _entries(folder):
                    match = _REPOSITORY.fullmatch(entry.name)
                    if not (match or _TEMPORARY.fullmatch(entry.name)) or not _is_older(entry, cutoff):
                        continue
                    if not match or not exists(key_in(storage, match[1])):
                        _move_to_trash(root, Path(entry.path))
                        swept.append(entry.name)
            for entry in _entries(root / _TRASH):
                if _is_older(entry, cutoff):
                    _delete(Path(entry.path))
                    swept.append(entry.name)
        return swept

    @contextmanager
    def new_repository(self, key: str) -> Iterator[Path]:
        """Yield a folder that becomes the repository atomically after the block.

        A crash leaves only a temporary folder.
        """
        path, root = self.path_of(key), self._root_of(key)
        if self.exists(key) if self.is_in_bucket(key) else path.exists():
            raise FileExistsError(f"There is a repository {key} already")
        if not self.is_available(storage_of(key)):
            raise Unavailable(f"The repository storage {storage_of(key)} is not available")
        if self.is_in_bucket(key):
            _delete(path)  # A copy of a repository that was removed by another node.
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for level in (root, path.parent.parent, path.parent):
            level.mkdir(mode=0o700, parents=level is self.root, exist_ok=True)
        folder = path.parent / f"{path.stem}.{secrets.token_hex(8)}.tmp"
        folder.mkdir(mode=0o700)
        try:
            yield folder
            if self.is_in_bucket(key):
                self.in_bucket.adopt(key, folder)
                _keep_as_copy(folder, path)
                return
            folder.rename(path)
        except BaseException:
            _delete(folder)
            raise
        # One sync is enough: journals preserve the order, so all folders that were created before are on disk too.
        sync_folder(path.parent)


def _keep_as_copy(folder: Path, path: Path) -> None:
    """Keep the folder of an adopted repository as its local copy, unless a reader has made one already."""
    try:
        folder.rename(path)
    except OSError as error:
        log_failure("local copy of a new repository not kept", error)
        _delete(folder)


def _shards(root: Path) -> Iterator[Path]:
    for outer in _entries(root):
        if _SHARD.fullmatch(outer.name):
            for inner in _entries(Path(outer.path)):
                if _SHARD.fullmatch(inner.name):
                    yield Path(inner.path)


def _move_to_trash(root: Path, path: Path) -> None:
    """Move a folder to the trash atomically, then delete it; running processes keep their open files."""
    trash = root / _TRASH
    trash.mkdir(mode=0o700, exist_ok=True, parents=True)
    target = trash / secrets.token_hex(16)
    try:
        path.rename(target)
    except FileNotFoundError:
        return
    _delete(target)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_older(entry: "os.DirEntry[str]", cutoff: float) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    # The ctime changes when the folder is renamed into place.
    return max(status.st_mtime, status.st_ctime) <= cutoff


def _delete(folder: Path) -> None:
    """Delete a folder; files that a running git process adds meanwhile are left to the next sweep."""
    for _ in range(_MAX_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
