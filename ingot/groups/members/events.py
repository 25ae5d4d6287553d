"""What is announced of members."""

from ingot.events.bus import Event
from ingot.groups.namespaces.tables import SourceKind


class MemberAdded(Event, frozen=True):
    """Somebody belongs to a group or project now."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    owns: bool = False
    """Whether the project lives in their own namespace, to which they belonged from its start."""


class MemberRemoved(Event, frozen=True):
    """Somebody does not belong to a group or project any more."""

    source_kind: SourceKind
    source_id: int
    user_id: int
    expired: bool = False
    """Whether their time was over."""
