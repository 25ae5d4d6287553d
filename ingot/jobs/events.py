"""What is announced of jobs."""

from ingot.events.bus import Event


class JobDropped(Event, frozen=True):
    """Somebody took a job out of the queue for good; nobody does what it was for."""

    kind: str
    unique_key: str | None
