"""Request parameters of repository storage moves."""

from ingot.core.api.params import Params


class ScheduleMove(Params):
    """The storage to move to; by default one is chosen by weight."""

    destination_storage_name: str | None = None


class ScheduleMoves(Params):
    """The storage to empty, and the one to move to."""

    source_storage_name: str
    destination_storage_name: str | None = None
