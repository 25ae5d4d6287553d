"""Responses to errors that no component has handled: of disks, of repositories, and bugs."""

from ingot.core.disk_errors import (
    NOT_WRITABLE,
    STORAGE_FULL,
    is_descriptor_shortage,
    is_disk_failure,
    is_storage_full,
)
from ingot.core.errors import FULL_RETRY_AFTER_SECONDS
from ingot.core.http.frontend import UnhandledError
from ingot.git.core.errors import GIT_LIMIT_REACHED, UNREADABLE_ERRORS, GitLimitReached, is_unreadable_error

_RETRY_SECONDS = 5


def classify_error(error: Exception) -> UnhandledError:
    """Return how to log an error and what to tell the caller."""
    if is_descriptor_shortage(error):
        # The same request may succeed when others have finished.
        return UnhandledError("fault", 503, "503 Service Unavailable", _RETRY_SECONDS)
    if is_storage_full(error):
        return _later("disk full", f"507 Insufficient Storage - {STORAGE_FULL}", 507)
    if is_disk_failure(error):
        return _later("disk failure", f"503 Service Unavailable - {NOT_WRITABLE}")
    if isinstance(error, GitLimitReached):
        return _later("git limit reached", f"503 Service Unavailable - {GIT_LIMIT_REACHED}")
    if is_unreadable_error(error):
        return _later("repository unreadable", UNREADABLE_ERRORS)
    return UnhandledError("fault", 500, "500 Internal Server Error", 0)


def _later(event: str, message: str, status: int = 503) -> UnhandledError:
    return UnhandledError(event, status, message, FULL_RETRY_AFTER_SECONDS)
