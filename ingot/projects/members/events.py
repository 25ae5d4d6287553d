"""Events of members."""

from ingot.core.db.times import Timestamp
from ingot.core.events.bus import Event
from ingot.projects.namespaces.tables import SourceKind


class MemberAdded(Event, frozen=True):
    """New membership of a user in a group or project."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    access_level: int
    created_at: Timestamp
    owns: bool = False
    """Whether the project is in the user's personal namespace, so that the user owns it from the start."""


class MemberRemoved(Event, frozen=True):
    """End of a user's membership; not emitted when the group or project itself is deleted."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    access_level: int
    created_at: Timestamp
    expired: bool = False
    """Whether the membership ended on its expiry date."""
