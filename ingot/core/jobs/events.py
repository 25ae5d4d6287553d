"""What is announced of jobs."""

from ingot.core.events.bus import Event


class JobDeleted(Event, frozen=True):
    """Somebody took a job out of the queue for good; nobody does what it was for."""

    kind: str
    unique_key: str | None
