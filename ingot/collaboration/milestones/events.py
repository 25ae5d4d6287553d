"""Events of milestones."""

from typing import Literal

from ingot.core.events.bus import Event


class MilestoneChanged(Event, frozen=True):
    """A milestone was created, closed, reopened or deleted."""

    milestone_id: int
    project_id: int | None
    actor_id: int
    action: Literal["created", "closed", "reopened", "destroyed"]


class MilestonesMerging(Event, frozen=True):
    """Milestones are about to be deleted and replaced by another milestone."""

    milestone_ids: list[int]
    into_id: int
