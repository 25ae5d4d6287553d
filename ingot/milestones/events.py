"""What is announced of milestones."""

from ingot.events.bus import Event


class MilestonesMerging(Event, frozen=True):
    """Milestones are about to go, because another one stands for them from now on."""

    milestone_ids: list[int]
    into_id: int
