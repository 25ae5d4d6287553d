"""Errors of repositories and of git commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.errors import Invalid

UNREADABLE_ERRORS = "The repository of this project cannot be read. Ask the administrator of this server to check it."


class MissingRepository(Exception):
    """The folder of a repository does not exist: its project was deleted, or its files are lost."""


class DamagedRepository(Exception):
    """The files of a repository contain something that git would not write."""


class GitError(Exception):
    """A git command failed; ``stderr`` is the end of its standard error.

    The standard error may quote a remote server, so log it at most and never send it to a caller.
    """

    def __init__(self, verb: str, status: int, stderr: str) -> None:
        super().__init__(f"git {verb} ended with status {status}")
        self.status = status
        self.stderr = stderr


class TreesTooDeep(GitError, Invalid):
    """The folders of a commit are nested more deeply than git can process; it overflowed its stack, or refused."""

    def __init__(self, verb: str, status: int = 0, stderr: str = "") -> None:
        super().__init__(verb, status, stderr)
        self.message = "400 (Bad request) The folders are nested too deeply"


class GitTimeout(GitError):
    """A git command ran into its timeout and was killed."""


class GitOutputTooLarge(GitError):
    """A git command wrote more than the limit and was killed."""


def is_unreadable_error(error: BaseException) -> bool:
    """Return whether an error means that a repository is missing or damaged, including errors of libgit2."""
    if isinstance(error, GitTimeout | GitOutputTooLarge | TreesTooDeep):
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
