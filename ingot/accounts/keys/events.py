"""What is announced of SSH keys."""

from ingot.core.db.times import Timestamp
from ingot.core.events.bus import Event


class KeyAdded(Event, frozen=True):
    """A key opens something now; one without a user is for projects to let in."""

    key_id: int
    user_id: int | None
    key: str
    created_at: Timestamp


class KeyRemoved(Event, frozen=True):
    """A key opens nothing any more."""

    key_id: int
    user_id: int | None
    key: str
    created_at: Timestamp
