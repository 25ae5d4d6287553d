"""Where repositories lie, and how they come and go: whole or not at all."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from ingot.git.core.errors import MissingRepository
from ingot.git.core.layout import make_bare_repository, sync_folder
from ingot.git.core.names import ref_name_error
from ingot.git.core.repository import Repository
from ingot.git.maintenance.fork import fill_fork

_KEY = re.compile(r"[0-9a-f]{64}")
_SHARD = re.compile(r"[0-9a-f]{2}")
_REPOSITORY = re.compile(r"([0-9a-f]{64})\.git")
_TEMPORARY = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{16}\.tmp")
_TRASH = ".trash"
_MAX_ATTEMPTS = 3
_MAX_CACHED_PATHS = 4096


def new_key() -> str:
    """A key that no repository has; it tells nothing of the project, so renaming one moves no files."""
    return secrets.token_hex(32)


class RepositoryStore:
    """Bare repositories under ``root/ab/cd/<key>.git``; any number of processes may share one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Putting a path together takes longer than most of what is then read there.
        self.path_of = lru_cache(_MAX_CACHED_PATHS)(self._path_of)

    def _path_of(self, key: str) -> Path:
        """Where the repository with this key lies, or would lie."""
        if not _KEY.fullmatch(key):
            raise ValueError("A repository's key has 64 hexadecimal digits")
        return self.root / key[:2] / key[2:4] / f"{key}.git"

    def exists(self, key: str) -> bool:
        """Whether there is a repository under this key."""
        return (self.path_of(key) / "HEAD").is_file()

    def open(self, key: str) -> Repository:
        """The repository with this key; opens no file until it is asked something."""
        path = self.path_of(key)
        if not os.path.isdir(str(path)):  # noqa: PTH112 - Asked at every call; a Path's own way costs ten times as much.
            raise MissingRepository(f"There is no repository {key}")
        return Repository(path)

    def create(self, key: str, default_branch: str) -> None:
        """Make an empty repository whose HEAD points to ``default_branch``."""
        if ref_name_error(default_branch) is not None:
            raise ValueError("The default branch cannot be called so")
        with self._new_repository(key) as folder:
            make_bare_repository(folder, b"refs/heads/" + default_branch.encode())

    def fork(self, source_key: str, key: str) -> None:
        """Make a repository with the branches and tags of another one, sharing its packs on the disk."""
        source = self.path_of(source_key)
        if not source.is_dir():
            raise MissingRepository(f"There is no repository {source_key}")
        with self._new_repository(key) as folder:
            fill_fork(source, folder)

    def remove(self, key: str) -> None:
        """Take a repository away; one that is gone already is no error."""
        self._move_to_trash(self.path_of(key))

    def keys(self) -> Iterator[str]:
        """The keys of all repositories, in no order."""
        for folder in self._shards():
            for entry in _entries(folder):
                named = _REPOSITORY.fullmatch(entry.name)
                if named:
                    yield named[1]

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """An empty folder on the same disk, gone after the block; one that a crash leaves is swept up as trash."""
        folder = self.root / _TRASH / secrets.token_hex(16)
        folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            _delete(folder)

    def sweep(self, known: Callable[[str], bool], older_than_seconds: float) -> list[str]:
        """Remove what crashes left: repositories that nobody knows, unfinished ones, and trash; gives their names.

        A repository is made before the row that knows it is committed, so ``older_than_seconds`` must be longer
        than any transaction or copy takes.
        """
        newest = time.time() - older_than_seconds
        swept: list[str] = []
        for folder in self._shards():
            for entry in _entries(folder):
                named = _REPOSITORY.fullmatch(entry.name)
                if not (named or _TEMPORARY.fullmatch(entry.name)) or not _is_older(entry, newest):
                    continue
                if not named or not known(named[1]):
                    self._move_to_trash(Path(entry.path))
                    swept.append(entry.name)
        for entry in _entries(self.root / _TRASH):
            if _is_older(entry, newest):
                _delete(Path(entry.path))
                swept.append(entry.name)
        return swept

    @contextmanager
    def _new_repository(self, key: str) -> Iterator[Path]:
        """A folder to fill, which then becomes the repository in one step; a crash leaves only a temporary one."""
        path = self.path_of(key)
        if path.exists():
            raise FileExistsError(f"There is a repository {key} already")
        self._make_shards(path.parent)
        folder = path.parent / f"{key}.{secrets.token_hex(8)}.tmp"
        folder.mkdir(mode=0o700)
        try:
            yield folder
            folder.rename(path)
        except BaseException:
            _delete(folder)
            raise
        # One for all: journals keep the order, so the disk then has every folder that was made before, too.
        sync_folder(path.parent)

    def _make_shards(self, folder: Path) -> None:
        for level in (self.root, folder.parent, folder):
            level.mkdir(mode=0o700, parents=level is self.root, exist_ok=True)

    def _shards(self) -> Iterator[Path]:
        for outer in _entries(self.root):
            if _SHARD.fullmatch(outer.name):
                for inner in _entries(Path(outer.path)):
                    if _SHARD.fullmatch(inner.name):
                        yield Path(inner.path)

    def _move_to_trash(self, path: Path) -> None:
        """Out of sight in one step, then deleted; whoever works in it keeps its open files until it ends."""
        trash = self.root / _TRASH
        trash.mkdir(mode=0o700, exist_ok=True, parents=True)
        doomed = trash / secrets.token_hex(16)
        try:
            path.rename(doomed)
        except FileNotFoundError:
            return
        _delete(doomed)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_older(entry: "os.DirEntry[str]", newest: float) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    # The latter changes when the folder is renamed into its place.
    return max(status.st_mtime, status.st_ctime) <= newest


def _delete(folder: Path) -> None:
    """Delete a folder; what a git process that still runs writes into it meanwhile is left to the next sweep."""
    for _ in range(_MAX_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
