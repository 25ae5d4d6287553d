"""Errors of repositories, and of running git on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNREADABLE_ERRORS = "The repository of this project cannot be read. Whoever runs this server should look into it."


class MissingRepository(Exception):
    """Repository whose folder does not exist: its project was deleted, maybe a moment ago, or its files are lost."""


class DamagedRepository(Exception):
    """A repository's files say something that git would not write."""


class GitError(Exception):
    """The git binary ended badly; ``said`` is the end of what it wrote to its standard error.

    What git says may quote a remote server, so it is for the log at most, and never for a caller.
    """

    def __init__(self, verb: str, status: int, said: str) -> None:
        super().__init__(f"git {verb} ended with status {status}")
        self.status = status
        self.said = said


class GitTimeout(GitError):
    """It took longer than it was given, and was killed with all that it had started."""


class GitOutputTooLarge(GitError):
    """It wrote more than was asked for, and was killed."""


def is_unreadable_error(error: BaseException) -> bool:
    """Whether this came of a repository that is missing or damaged; libgit2 has errors of its own for that."""
    if isinstance(error, GitTimeout | GitOutputTooLarge):
        return False
    if isinstance(error, ValueError):  # What libgit2 reads in a pack that was cut off may be of no kind at all.
        return "is not a valid ObjectType" in str(error)
    return isinstance(error, MissingRepository | DamagedRepository | GitError) or "pygit2" in type(error).__module__


@contextmanager
def noticing_removal(path: Path) -> Iterator[None]:
    """Raise ``MissingRepository`` instead of an error that comes of a repository being deleted within the block."""
    try:
        yield
    except (OSError, DamagedRepository, GitError) as error:
        if not path.is_dir():
            raise MissingRepository(f"The repository {path.name} was removed") from error
        raise
