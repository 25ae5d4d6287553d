"""Local copies of repositories in a bucket, and the cache that keeps their files: its size, its limit, and removals.

The server works with the copies in a folder of its own. Their packs and refs are hard links to files of the cache, so
that a deletion of the cache, which nothing can prevent, does not reach what is being read or written.
"""

import hashlib
import os
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ingot.core.cache import CopiesSize
from ingot.git.bucket.use_lock import USE_SUFFIX
from ingot.git.core.layout import GENERATION
from ingot.git.core.shared_disks import file_lock

_TRIM_SECONDS = 300.0
"""Interval in which a process compares the size with the limit."""
_MEASURED_SECONDS = 60.0
_RECENT_SECONDS = 900.0
"""Longer than nearly all reads take: a copy that was used within this time is not removed by the limit."""
_CLEARED_SECONDS = 60.0
"""Longer than calls of the API take: a copy that was used within this time is not removed by an administrator."""
_IDLE_SECONDS = 6 * 3600.0
"""Longer than any use: the disk space of a copy is freed after this time if somebody has deleted the cache."""
_IDLE_INTERVAL_SECONDS = 3600.0
_TRIM_TO = 0.9


class CachedCopy(NamedTuple):
    """A local copy, and what the cache has of it."""

    path: Path
    """Path in the cache."""
    bytes: int
    used_at: float
    """Seconds since 1970, which is recorded every ten seconds."""

    @property
    def name(self) -> str:
        """Return the digits of the repository's key."""
        return self.path.stem


def copies_folder(run: Path, cache: Path) -> Path:
    """Return the folder of the local copies: among the files of this machine, out of reach of a deletion of the cache.

    Links are possible only within one file system; if that is another one, it is a hidden folder of the cache.
    """
    folder = run / "copies" / hashlib.sha256(os.fsencode(cache)).hexdigest()[:16]
    probe = f".{secrets.token_hex(8)}"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        for level in (run, folder.parent, folder):
            level.mkdir(mode=0o700, exist_ok=True)
        (cache / probe).touch()
        os.link(cache / probe, folder / probe)
    except FileNotFoundError:  # Somebody is deleting the cache.
        return folder
    except OSError:  # It is on another file system.
        return cache / ".copies"
    finally:
        for each in (cache, folder):
            with suppress(OSError):
                (each / probe).unlink()
    return folder


class CopyCache:
    """All local copies of one machine."""

    def __init__(self, root: Path, local: Path, max_bytes: int) -> None:
        self.root = root
        self.local = local
        """Folder of the local copies themselves."""
        self.max_bytes = max_bytes
        """0 means no limit."""
        self._lock = threading.Lock()
        self._next_trim = self._next_idle = self._measured_until = 0.0
        self._size = CopiesSize(0, 0)

    def copies(self) -> list[CachedCopy]:
        """Return all copies and what the cache has of others, the least recently used first."""
        found = []
        for name in {path.relative_to(root) for root in (self.local, self.root) for path in _copies_in(root)}:
            used_at = _used_at(self.local / name) or _used_at(self.root / name)
            if used_at is not None:
                # Both have the same packs, unless somebody has deleted the cache.
                files = _files_of(self.root / name) or _files_of(self.local / name)
                found.append((self.root / name, files, used_at))
        # Copies of forks share the files of packs.
        links = Counter(inode for _, files, _ in found for inode in files)
        copies = [
            CachedCopy(path, sum(size // links[inode] for inode, size in files.items()), used_at)
            for path, files, used_at in found
        ]
        return sorted(copies, key=lambda copy: copy.used_at)

    def size(self) -> CopiesSize:
        """Return the number and size of all copies, which are measured once a minute."""
        with self._lock:
            now = time.monotonic()
            if now < self._measured_until:
                return self._size
            self._measured_until = now + _MEASURED_SECONDS
        copies = self.copies()
        self._size = CopiesSize(len(copies), sum(copy.bytes for copy in copies))
        return self._size

    def trim_sometimes(self) -> None:
        """Remove copies above the limit, unless this process has done so a moment ago."""
        if not self.max_bytes:
            return
        with self._lock:
            now = time.monotonic()
            if now < self._next_trim:
                return
            self._next_trim = now + _TRIM_SECONDS
        self.trim()

    def trim(self) -> int:
        """Remove the least recently used copies until their size is below the limit; return how many."""
        if not self.max_bytes:
            return 0
        copies = self.copies()
        total, removed = sum(copy.bytes for copy in copies), 0
        if total <= self.max_bytes:
            return 0
        for copy in copies:
            if total <= self.max_bytes * _TRIM_TO or copy.used_at > time.time() - _RECENT_SECONDS:
                break
            if self._remove(copy):
                total, removed = total - copy.bytes, removed + 1
        return removed

    def remove_idle_sometimes(self) -> None:
        """Remove local copies that were not used for long, with files that somebody has deleted from the cache."""
        with self._lock:
            now = time.monotonic()
            if now < self._next_idle:
                return
            self._next_idle = now + _IDLE_INTERVAL_SECONDS
        for path in list(_copies_in(self.local)):
            used_at = _used_at(path)
            if used_at is not None and used_at < time.time() - _IDLE_SECONDS:
                _remove_local(self.local, path)

    def path_of(self, key: str) -> Path:
        """Return the path of what the cache has of a repository, whether it exists or not."""
        digits = key.rpartition(":")[2]
        return self.root / digits[:2] / digits[2:4] / f"{digits}.git"

    def drop(self, key: str) -> None:
        """Remove what the cache has of a repository."""
        shutil.rmtree(self.path_of(key), ignore_errors=True)

    def clear(self) -> int:
        """Remove all copies that are not in use; return how many."""
        cutoff = time.time() - _CLEARED_SECONDS
        return sum(copy.used_at < cutoff and self._remove(copy) for copy in self.copies())

    def _remove(self, copy: CachedCopy) -> bool:
        removed = _remove_local(self.local, self.local / copy.path.relative_to(self.root))
        if removed:
            shutil.rmtree(copy.path, ignore_errors=True)
        return removed


def _remove_local(root: Path, path: Path) -> bool:
    """Remove a local copy, unless git serves a client from it; return whether it does not exist any more."""
    if not path.exists():
        return True
    use, change = (file_lock(path.with_suffix(suffix), wait=False) for suffix in (USE_SUFFIX, ".lock"))
    with use as is_unused, change as is_unchanged:
        if not (is_unused and is_unchanged):
            return False
        trash = root / ".trash"
        trash.mkdir(mode=0o700, exist_ok=True)
        target = trash / secrets.token_hex(16)
        with suppress(FileNotFoundError):
            path.rename(target)
    shutil.rmtree(target, ignore_errors=True)
    return True


def _used_at(path: Path) -> float | None:
    try:
        return (path / GENERATION).stat().st_mtime
    except FileNotFoundError:  # It is being made or removed.
        return None


def _copies_in(root: Path) -> Iterator[Path]:
    return root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*.git")


def _files_of(path: Path) -> dict[int, int]:
    """Return the sizes of the files of a copy by their inodes."""
    sizes = {}
    for folder, _, files in os.walk(path):
        for file in files:
            with suppress(FileNotFoundError):  # It was removed meanwhile.
                status = os.lstat(f"{folder}/{file}")
                sizes[status.st_ino] = status.st_size
    return sizes
