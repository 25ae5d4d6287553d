"""What is announced of changes to references."""

import msgspec

from ingot.core.events.bus import Event
from ingot.git.writing.change_summary import PushSummary
from ingot.git.writing.ref_updates import RefUpdate


class RefsChanged(Event, frozen=True):
    """References have changed, in one push or call; announced once for each, however it came."""

    project_id: int
    actor_id: int | None
    via: str
    updates: tuple[RefUpdate, ...]
    brought: dict[str, PushSummary] = msgspec.field(default_factory=dict)
    """What came by the first of them, by their full names."""
    arrived: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """By branch: those of the commits that somebody waits for which are new on it."""
