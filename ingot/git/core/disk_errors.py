"""Errors of a disk that fails or is read-only, in Python, in git and in libgit2."""

import errno
import os

from ingot.git.core.errors import GitError

NOT_WRITABLE = (
    "The disk of the server cannot be written. Nothing was stored. Ask the administrator to check it, then retry."
)
_CODES = (errno.EIO, errno.EROFS, errno.ENXIO, errno.ENODEV, errno.ESTALE)
_TEXTS = tuple(os.strerror(code) for code in _CODES)


def is_disk_failure(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, was caused by a disk that fails or is read-only."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _CODES:
            return True
        if any(text in _message(error) for text in _TEXTS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _message(error: BaseException) -> str:
    """Return the message of the operating system in an error of git or libgit2, which have no error number."""
    if isinstance(error, GitError):
        return error.stderr
    return str(error) if "pygit2" in type(error).__module__ or isinstance(error, OSError) else ""
