"""Refusals of git and Git LFS requests, with messages that git prints in the user's terminal."""

import os
from pathlib import Path

from ingot.core.disk_errors import STORAGE_FULL, is_storage_full
from ingot.core.errors import FULL_RETRY_AFTER_SECONDS, StorageFull, TransfersBusy, Unavailable
from ingot.core.http.request import Header
from ingot.git.core.errors import RepositoryBucketUnavailable

MIN_PUSH_SPACE_BYTES = 2**20
"""Free space that every push needs; with less, git fails with a message that does not name the cause."""
RETRY_AFTER_SECONDS = 10
PROJECT_NOT_FOUND = "The project you were looking for could not be found or you don't have permission to view it."
PROJECT_DELETED = "The project has been deleted."
BASIC_CHALLENGE: Header = (b"www-authenticate", b'Basic realm="Ingot"')


class GitRequestRefused(Exception):
    """Refusal with a message; over HTTP also with a status and headers."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


def unauthorized(reason: str = "") -> GitRequestRefused:
    """Ask for credentials; ``reason`` says why a correct password does not suffice."""
    advice = reason or "Use your password, or a token with the scope read_repository or write_repository."
    return GitRequestRefused(401, f"HTTP Basic: Access denied. {advice}", BASIC_CHALLENGE)


def unavailable(error: Unavailable | None = None) -> GitRequestRefused:
    """Ask the client to retry later."""
    text = (
        str(error)
        if isinstance(error, TransfersBusy | RepositoryBucketUnavailable)
        else "The server cannot answer right now. Retry later."
    )
    return GitRequestRefused(503, text, (b"retry-after", b"%d" % RETRY_AFTER_SECONDS))


def storage_full() -> GitRequestRefused:
    """Refuse a request that needs space on a full disk."""
    return GitRequestRefused(507, STORAGE_FULL, (b"retry-after", b"%d" % FULL_RETRY_AFTER_SECONDS))


def storage_refusal(error: Exception) -> GitRequestRefused | None:
    """Return the refusal for an error that a full disk has caused; None for any other error."""
    return storage_full() if isinstance(error, StorageFull) or is_storage_full(error) else None


def require_free_space(repository: Path) -> None:
    """Raise ``GitRequestRefused`` if the disk of a repository is full, before git begins to receive a push."""
    space = os.statvfs(repository)
    if space.f_bavail * space.f_frsize < MIN_PUSH_SPACE_BYTES or (space.f_files and not space.f_favail):
        raise storage_full()
