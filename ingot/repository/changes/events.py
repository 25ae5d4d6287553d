"""What is announced of changes to references."""

import msgspec

from ingot.events.bus import Event
from ingot.git.counting import Brought
from ingot.git.updating import RefUpdate


class RefsChanged(Event, frozen=True):
    """References have changed, in one push or call; announced once for each, however it came."""

    project_id: int
    actor_id: int | None
    via: str
    updates: tuple[RefUpdate, ...]
    brought: dict[str, Brought] = msgspec.field(default_factory=dict)
    """What came by the first of them, by their full names."""
