"""What is announced of milestones."""

from typing import Literal

from ingot.core.events.bus import Event


class MilestoneChanged(Event, frozen=True):
    """A milestone of a project or group was made, closed, opened again or removed."""

    milestone_id: int
    project_id: int | None
    actor_id: int
    action: Literal["created", "closed", "reopened", "destroyed"]


class MilestonesMerging(Event, frozen=True):
    """Milestones are about to go, because another one stands for them from now on."""

    milestone_ids: list[int]
    into_id: int
