"""What is announced of imports."""

from ingot.core.events.bus import Event


class ProjectImported(Event, frozen=True):
    """A project's repository holds now what its import brought."""

    project_id: int
