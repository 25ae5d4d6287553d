"""What is announced of groups."""

from ingot.core.events.bus import Event


class GroupCreated(Event, frozen=True):
    """A group exists now."""

    group_id: int
    owner_id: int


class GroupVisibilityLowered(Event, frozen=True):
    """A group moved to where it may only be as visible as this; what is in it follows."""

    namespace_id: int
    visibility: str
