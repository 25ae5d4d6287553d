"""Existence of wiki repositories at sources whose API does not tell."""

from ingot.core.outgoing.errors import OutgoingError
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.integrations.transfers.source import SourceError
from ingot.integrations.transfers.sources.client import INTERRUPTION_SECONDS


def repository_exists(guard: SsrfGuard, url: str, username: str, password: str) -> bool:
    """Return whether there is a git repository at a URL; raise ``SourceError`` after a temporary failure."""
    try:
        find_repository(guard, url, username, password)
    except OutgoingError as error:
        if error.temporary:
            raise SourceError(error.reason, retry_after=INTERRUPTION_SECONDS) from error
        return False
    return True
