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


class SharedRunnersSwitched(Event, frozen=True):
    """Decision of a group whether the projects below it use the runners of the instance."""

    namespace_id: int
    enabled: bool


class GroupDeletionScheduled(Event, frozen=True):
    """Decision to delete a group with everything in it after a period."""

    namespace_id: int


class GroupRestored(Event, frozen=True):
    """End of the scheduled deletion of a group."""

    namespace_id: int
