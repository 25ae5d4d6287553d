"""Events of snippets."""

from typing import Literal

from ingot.core.events.bus import Event


class SnippetChanged(Event, frozen=True):
    """A snippet was created, edited or deleted."""

    snippet_id: int
    project_id: int | None
    actor_id: int
    action: Literal["created", "edited", "deleted"]
