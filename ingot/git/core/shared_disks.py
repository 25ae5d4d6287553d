"""Reads, locks and times on a file system that several machines share.

Another machine may replace a file between its lookup and its use, which fails with ``ESTALE``; the read is repeated.
The kernel also remembers names for a while, so files whose name may lead to another file are looked up again.
"""

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ingot.core.disk_errors import RETRY_PAUSES, is_stale
from ingot.git.core.errors import DamagedRepository, GitError, MissingRepository, is_unreadable_error


class FinishedCommand(Protocol):
    """Result of a git command."""

    @property
    def stderr(self) -> str:
        """Return its standard error."""


P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound=FinishedCommand)

MAX_ATTEMPTS = 4
_CHUNK_BYTES = 2**20
_REPEATED_COMMANDS = frozenset(
    ("blame", "bundle", "cat-file", "diff-tree", "log", "ls-tree", "merge-base", "merge-tree", "pack-refs", "rev-list")
)
"""Commands that only read, or that may run twice."""
_REPLACED_TEXTS = (os.strerror(errno.ESTALE), "is empty", "is corrupt")
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


def repeated_when_replaced(
    run: Callable[Concatenate[Sequence[str], Path, P], R],
) -> Callable[Concatenate[Sequence[str], Path, P], R]:
    """Decorate the function that runs git: reads that fail because of a replaced file are repeated on shared disks."""

    @wraps(run)
    def repeated(args: Sequence[str], cwd: Path, /, *rest: P.args, **options: P.kwargs) -> R:
        if args[0] not in _REPEATED_COMMANDS or options.get("on_stdout") is not None or not on_shared_disk(cwd):
            return run(args, cwd, *rest, **options)
        for pause in RETRY_PAUSES:
            try:
                result = run(args, cwd, *rest, **options)
            except GitError as error:
                if not _names_replaced_file(error.stderr):
                    raise
            else:
                if not _names_replaced_file(result.stderr):
                    return result
            time.sleep(pause)
        return run(args, cwd, *rest, **options)

    return repeated


def _names_replaced_file(stderr: str) -> bool:
    return any(text in stderr for text in _REPLACED_TEXTS)


def is_outdated(error: BaseException, root: Path) -> bool:
    """Return whether a read failed because a file was replaced, or on shared disks because an object seems missing."""
    if is_stale(error):
        return True
    missing = (
        isinstance(error, KeyError)
        or (isinstance(error, OSError) and error.errno is None)  # libgit2 could not read a file.
        or (is_unreadable_error(error) and not isinstance(error, MissingRepository | DamagedRepository))
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


def on_shared_disk(repository: Path | str) -> bool:
    """Return whether a repository is on a file system of the network."""
    return is_shared(str(repository).rstrip("/").rsplit("/", 3)[0])


def look_again(path: str | bytes) -> None:
    """Make the kernel and the client of the file system forget a file that another machine may have replaced.

    Both remember for a second or more which file a name belongs to, and what a small file contains. An attribute of
    the remembered file is not cached: if the file was replaced, asking for it fails, and the kernel looks up the name
    again. A name that was missing is looked up again when its folder is listed.
    """
    try:
        os.getxattr(path, "user.ingot")
    except FileNotFoundError:
        try:
            os.listdir(os.path.dirname(path))  # noqa: PTH208, PTH120 - The name may be bytes.
        except OSError:  # The folder does not exist either.
            pass
    except OSError:  # There is no such attribute, as expected.
        pass


def read_current(path: str | bytes, is_whole: Callable[[bytes], object], *, shared: bool) -> bytes:
    """Return the content of a small file as the last writer left it, also if that was another machine.

    A file that was listed while another machine created it seems to be empty, or cut off, for a second after it got
    its final name. Synchronizing it makes the client of the file system ask for its size, and a direct read ignores
    the size that the kernel remembers.
    """
    if shared:
        look_again(path)
    content = _read_file(path, 0)
    if not shared or is_whole(content):
        return content
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return _read_file(path, getattr(os, "O_DIRECT", 0))


def _read_file(path: str | bytes, flags: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        content = b""
        # No read after a shorter one: direct reads may start at multiples of a page only.
        while len(content) % _CHUNK_BYTES == 0 and (chunk := os.read(descriptor, _CHUNK_BYTES)):
            content += chunk
        return content
    finally:
        os.close(descriptor)


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
def file_lock(path: Path, *, wait: bool = True, shared: bool = False) -> Iterator[bool]:
    """Hold the lock of a file, which is created if needed; yield False if another process has it and ``wait`` is off.

    Several may hold a ``shared`` lock.

    A file, because locks of folders exclude no other machine. The system releases the lock when the process ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
