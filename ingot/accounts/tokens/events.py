"""Events of tokens."""

from ingot.core.db.times import Timestamp
from ingot.core.events.bus import Event


class TokenRevoked(Event, frozen=True):
    """A token of a user was revoked."""

    user_id: int


class TokenRotated(Event, frozen=True):
    """A token of a user was replaced by a new one with this expiry."""

    user_id: int
    expires_at: Timestamp
