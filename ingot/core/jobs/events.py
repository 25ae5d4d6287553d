"""Events of jobs."""

from ingot.core.events.bus import Event


class JobDeleted(Event, frozen=True):
    """An administrator deleted a job, so its work will not be done."""

    kind: str
    unique_key: str | None
