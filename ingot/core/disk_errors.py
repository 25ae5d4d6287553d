"""Errors of a disk that is full, fails or is read-only: in Python, in programs such as git, and in libgit2."""

import errno
import os

NOT_WRITABLE = (
    "The disk of the server cannot be written. Nothing was stored. Ask the administrator to check it, then retry."
)
STORAGE_FULL = "The server has no free disk space. Nothing was stored. Ask the administrator to free some, then retry."
RETRY_PAUSES = (0.0, 0.02, 0.1, 0.4, 0.8)
"""Seconds before each further attempt of a read; clients of file systems remember names and sizes for a second."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILING = (errno.EIO, errno.EROFS, errno.ENXIO, errno.ENODEV, errno.ESTALE)
_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_STALE = (errno.ESTALE,)


class CommandFailed(Exception):
    """A program that the server has run failed; ``stderr`` is the end of its standard error."""

    stderr: str
    disk_full = False
    """Whether it could not write because the disk is full."""


def is_storage_full(error: BaseException) -> bool:
    """Return whether an error was caused by a full disk or an exhausted quota."""
    return (isinstance(error, CommandFailed) and error.disk_full) or _has_cause(error, _FULL)


def is_disk_failure(error: BaseException) -> bool:
    """Return whether an error was caused by a disk that fails or is read-only."""
    return _has_cause(error, _FAILING)


def is_descriptor_shortage(error: BaseException) -> bool:
    """Return whether an error was caused by too many open files."""
    return _has_cause(error, _NO_DESCRIPTORS)


def is_stale(error: BaseException) -> bool:
    """Return whether an error means that another machine has replaced a file."""
    return _has_cause(error, _STALE)


def says_storage_full(stderr: str) -> bool:
    """Return whether a program has reported a full disk."""
    return any(os.strerror(code) in stderr for code in _FULL)


def _has_cause(error: BaseException | None, codes: tuple[int, ...]) -> bool:
    """Return whether an error, or one that led to it, has one of these codes or its message."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in codes:
            return True
        message = _message(error)
        if any(os.strerror(code) in message for code in codes):
            return True
        error = error.__cause__ or error.__context__
    return False


def _message(error: BaseException) -> str:
    """Return the message of the operating system in an error of a program or of libgit2, which have no error number."""
    if isinstance(error, CommandFailed):
        return error.stderr
    return str(error) if "pygit2" in type(error).__module__ or isinstance(error, OSError) else ""
