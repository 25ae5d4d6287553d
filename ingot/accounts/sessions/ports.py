"""Work on sessions that only web workers can do."""

from collections.abc import Callable
from dataclasses import dataclass

from ingot.accounts.sessions.tables import Session
from ingot.core.db.times import Timestamp


@dataclass(frozen=True, slots=True)
class SessionExtension:
    """Port to the writer of a web worker."""

    extend: Callable[[Session, int, Timestamp], None]
    """Lets a session last for some minutes from a time."""
