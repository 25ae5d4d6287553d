"""Events of imports."""

from ingot.core.events.bus import Event


class ProjectImported(Event, frozen=True):
    """Completed import or copy of a project's repository."""

    project_id: int
