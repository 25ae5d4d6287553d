"""Events of SSH keys."""

from ingot.core.db.times import Timestamp
from ingot.core.events.bus import Event


class KeyAdded(Event, frozen=True):
    """An SSH key was added; one without a user is a deploy key."""

    key_id: int
    user_id: int | None
    key: str
    created_at: Timestamp


class KeyRemoved(Event, frozen=True):
    """An SSH key was deleted."""

    key_id: int
    user_id: int | None
    key: str
    created_at: Timestamp
