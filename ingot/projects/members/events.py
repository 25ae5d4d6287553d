"""What is announced of members."""

from ingot.core.db.times import Timestamp
from ingot.core.events.bus import Event
from ingot.projects.namespaces.tables import SourceKind


class MemberAdded(Event, frozen=True):
    """Somebody belongs to a group or a project now."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    access_level: int
    created_at: Timestamp
    owns: bool = False
    """Whether the project lives in their own namespace, to which they belonged from its start."""


class MemberRemoved(Event, frozen=True):
    """Somebody belongs to a group or a project no more, though it goes on."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    access_level: int
    created_at: Timestamp
    expired: bool = False
    """Whether their time was over."""
