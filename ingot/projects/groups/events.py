"""Events of groups."""

from ingot.core.events.bus import Event


class GroupCreated(Event, frozen=True):
    """Creation of a group."""

    group_id: int
    owner_id: int


class GroupVisibilityLowered(Event, frozen=True):
    """Transfer of a group to a parent with this visibility, which limits everything in the group."""

    namespace_id: int
    visibility: str
