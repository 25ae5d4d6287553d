"""Reads, locks and times on a file system that several machines share.

Another machine may replace a file between its lookup and its use, which fails with ``ESTALE``; the read is repeated.
The kernel may remember for seconds that a file does not exist; opening its folder makes it ask the file server again.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from ingot.git.core.errors import DamagedRepository, MissingRepository, is_stale, is_unreadable_error

P = ParamSpec("P")
T = TypeVar("T")

MAX_ATTEMPTS = 4
_NETWORK_TYPES = ("nfs", "cifs", "smb3", "ceph", "9p", "fuse", "glusterfs", "lustre", "gfs2", "ocfs2", "beegfs")


def repeated_when_stale(read: Callable[P, T]) -> Callable[P, T]:
    """Decorate a read that is repeated when another machine has replaced a file meanwhile."""

    @wraps(read)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(MAX_ATTEMPTS - 1):
            try:
                return read(*args, **kwargs)
            except Exception as error:
                if not is_stale(error):
                    raise
        return read(*args, **kwargs)

    return repeated


def is_outdated(error: BaseException, root: Path) -> bool:
    """Return whether a read failed because a file was replaced, or on shared disks because an object seems missing."""
    if is_stale(error):
        return True
    missing = isinstance(error, KeyError) or (
        is_unreadable_error(error) and not isinstance(error, MissingRepository | DamagedRepository)
    )
    return missing and is_shared(str(root))


@lru_cache(maxsize=16)
def is_shared(root: str) -> bool:
    """Return whether a folder is on a file system of the network, as far as the kernel tells."""
    folder, found, kind = os.path.realpath(root), "", ""
    try:
        with Path("/proc/self/mounts").open(encoding="utf-8", errors="surrogateescape") as mounts:
            for line in mounts:
                _, mounted_at, name, *_ = line.split(" ")
                mounted_at = mounted_at.replace("\\040", " ")
                if len(mounted_at) >= len(found) and f"{folder}/".startswith(mounted_at.rstrip("/") + "/"):
                    found, kind = mounted_at, name
    except OSError:  # A system without such a list.
        return False
    return kind.startswith(_NETWORK_TYPES)


def look_again(folder: str | bytes) -> None:
    """Make the kernel ask the file server which files a folder contains, if that is possible."""
    try:
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
    except OSError:  # The folder does not exist either.
        pass


def now_on_disk(folder: Path) -> float:
    """Return the current time of the file server, which also sets the times of its files."""
    probe = folder / f"tmp_clock_{secrets.token_hex(8)}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:  # Such as a full disk, where old files should still be found.
        return time.time()
    try:
        os.write(descriptor, b"\n")
        os.fsync(descriptor)
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)
        probe.unlink(missing_ok=True)


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file, which is created if needed; yield False if another process has it and ``wait`` is off.

    A file, because locks of folders exclude no other machine. The system releases the lock when the process ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
