"""What is announced of changes to references."""

from ingot.events.bus import Event
from ingot.git.updating import RefUpdate


class RefsChanged(Event, frozen=True):
    """References have changed, in one push or call; announced once for each, however it came."""

    project_id: int
    actor_id: int | None
    via: str
    updates: tuple[RefUpdate, ...]
