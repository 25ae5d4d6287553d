"""Events of ref changes."""

import msgspec

from ingot.core.events.bus import Event
from ingot.git.writing.change_summary import PushSummary
from ingot.git.writing.ref_updates import RefUpdate


class RefsChanged(Event, frozen=True):
    """Refs have changed in one push or request; emitted once per change, regardless of its source."""

    project_id: int
    actor_id: int | None
    via: str
    updates: tuple[RefUpdate, ...]
    summaries: dict[str, PushSummary] = msgspec.field(default_factory=dict)
    """Summaries of the first updates, by full ref name."""
    merged_heads: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Awaited commits that are new on a branch, by branch."""
    deploy_key_id: int | None = None
    """The deploy key that pushed; ``actor_id`` is then the user who added it to the project."""
    configured_refs: tuple[str, ...] = ()
    """Full names of updated refs whose commits have a configuration of pipelines; only the first ones of a push."""
    push_options: tuple[str, ...] = ()
    """Options of ``git push -o`` for pipelines and merge requests."""
    key: str = ""
    """Key of the change."""
