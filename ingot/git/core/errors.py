"""Errors of repositories and of git commands."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.core.disk_errors import CommandFailed, says_storage_full
from ingot.core.errors import Invalid, Unavailable

UNREADABLE_ERRORS = "The repository of this project cannot be read. Ask the administrator of this server to check it."
COPY_REMOVED = "The copy of this repository on the server was removed meanwhile. Please try again."
GIT_LIMIT_REACHED = "Reading the repository takes too much time or memory."

_FULL_BELOW_BYTES = 64 * 1024


class MissingRepository(Exception):
    """The folder of a repository does not exist: its project was deleted, or its files are lost."""


class DamagedRepository(Exception):
    """The files of a repository contain something that git would not write."""


class RepositoryBucketUnavailable(Unavailable):
    """The bucket does not respond, and what is needed is not on this machine."""

    def __init__(self) -> None:
        super().__init__("The storage of this repository is not available. Please try again in a moment.")


class GitError(CommandFailed):
    """A git command failed.

    Its standard error may quote a remote server, so log it at most and never send it to a caller.
    """

    def __init__(self, verb: str, status: int, stderr: str) -> None:
        super().__init__(f"git {verb} ended with status {status}")
        self.status = status
        self.stderr = stderr


class GitStorageFull(GitError):
    """A git command could not write because the disk is full."""

    disk_full = True


class TreesTooDeep(GitError, Invalid):
    """The folders of a commit are nested more deeply than git can process; it overflowed its stack, or refused."""

    def __init__(self, verb: str, status: int = 0, stderr: str = "") -> None:
        super().__init__(verb, status, stderr)
        self.message = "400 (Bad request) The folders are nested too deeply"


class TreeTooLarge(GitError, Invalid):
    """A commit has more files and folders than a request may process, often the same folder many times."""

    def __init__(self, verb: str) -> None:
        super().__init__(verb, 0, "")
        self.message = "400 (Bad request) The commit has too many files and folders"


class GitLimitReached(GitError):
    """A git command exceeded one of its limits and was killed."""


class GitTimeout(GitLimitReached):
    """A git command ran into its timeout, or into the limit of its CPU time."""


class GitOutputTooLarge(GitLimitReached):
    """A git command wrote more than the limit."""


class GitMemoryExceeded(GitLimitReached):
    """A git command needed more memory than the limit."""


def git_error(verb: str, status: int, stderr: str, repository: Path) -> GitError:
    """Return the error for a command that failed in a repository.

    Git does not always name the cause: on a full disk, it reports only that the lock of a ref cannot be written.
    """
    full = says_storage_full(stderr) or ("write" in stderr and lacks_space(repository))
    return (GitStorageFull if full else GitError)(verb, status, stderr)


def lacks_space(repository: Path, size: int = 0) -> bool:
    """Return whether the disk of a repository has no space for an object of this size."""
    try:
        space = os.statvfs(repository)
    except OSError:  # The repository was removed.
        return False
    return space.f_bavail * space.f_frsize < size + _FULL_BELOW_BYTES


def is_unreadable_error(error: BaseException) -> bool:
    """Return whether an error means that a repository is missing or damaged, including errors of libgit2."""
    if isinstance(error, GitLimitReached | TreesTooDeep | TreeTooLarge):
        return False
    if isinstance(error, ValueError):  # libgit2 may read an invalid object type in a truncated pack.
        return "is not a valid ObjectType" in str(error)
    return isinstance(error, MissingRepository | DamagedRepository | GitError) or "pygit2" in type(error).__module__


@contextmanager
def noticing_removal(path: Path) -> Iterator[None]:
    """Raise ``MissingRepository`` instead of errors caused by the deletion of the repository within the block."""
    try:
        yield
    except (OSError, DamagedRepository, GitError) as error:
        if not path.is_dir():
            raise MissingRepository(f"The repository {path.name} was removed") from error
        raise
