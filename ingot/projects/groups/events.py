"""Events of groups."""

from ingot.core.events.bus import Event


class GroupCreated(Event, frozen=True):
    """Creation of a group."""

    group_id: int
    owner_id: int


class GroupVisibilityChanging(Event, frozen=True):
    """A group is about to be as visible as this; who holds something more visible in it refuses."""

    namespace_id: int
    visibility: str


class GroupVisibilityLowered(Event, frozen=True):
    """Transfer of a group to a parent with this visibility, which limits everything in the group."""

    namespace_id: int
    visibility: str
