"""Local copies of repositories in a bucket: their size, its limit, and their removal."""

import os
import secrets
import shutil
import threading
import time
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
_TRIM_TO = 0.9


class CachedCopy(NamedTuple):
    """A local copy."""

    path: Path
    bytes: int
    used_at: float
    """Seconds since 1970, to the minute."""

    @property
    def name(self) -> str:
        """Return the digits of the repository's key."""
        return self.path.stem


class CopyCache:
    """All local copies of one machine."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        """0 means no limit."""
        self._lock = threading.Lock()
        self._next_trim = self._measured_until = 0.0
        self._size = CopiesSize(0, 0)

    def copies(self) -> list[CachedCopy]:
        """Return all copies, the least recently used first."""
        found = []
        for path in self.root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*.git"):
            try:
                found.append(CachedCopy(path, _size_of(path), (path / GENERATION).stat().st_mtime))
            except FileNotFoundError:  # It is being made or removed.
                continue
        return sorted(found, key=lambda copy: copy.used_at)

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
        copies = self.copies()
        total, removed = sum(copy.bytes for copy in copies), 0
        if not self.max_bytes or total <= self.max_bytes:
            return 0
        for copy in copies:
            if total <= self.max_bytes * _TRIM_TO or copy.used_at > time.time() - _RECENT_SECONDS:
                break
            if remove_copy(self.root, copy.path):
                total, removed = total - copy.bytes, removed + 1
        return removed

    def path_of(self, key: str) -> Path:
        """Return the path of the copy of a repository, whether it exists or not."""
        digits = key.rpartition(":")[2]
        return self.root / digits[:2] / digits[2:4] / f"{digits}.git"

    def clear(self) -> int:
        """Remove all copies that are not in use; return how many."""
        return sum(remove_copy(self.root, copy.path) for copy in self.copies())


def remove_copy(root: Path, path: Path) -> bool:
    """Remove a copy, unless git serves a client from it; short reads of it are repeated with a new copy."""
    use, change = (file_lock(path.with_suffix(suffix), wait=False) for suffix in (USE_SUFFIX, ".lock"))
    with use as is_unused, change as is_unchanged:
        if not (is_unused and is_unchanged):
            return False
        trash = root / ".trash"
        trash.mkdir(mode=0o700, exist_ok=True)
        target = trash / secrets.token_hex(16)
        try:
            path.rename(target)
        except FileNotFoundError:
            return False
    shutil.rmtree(target, ignore_errors=True)
    return True


def _size_of(path: Path) -> int:
    total = 0
    for folder, _, files in os.walk(path):
        for file in files:
            try:
                # Copies of forks share the files of packs.
                status = os.lstat(f"{folder}/{file}")
                total += status.st_size // max(1, status.st_nlink)
            except FileNotFoundError:  # It was removed meanwhile.
                continue
    return total
