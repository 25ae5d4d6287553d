"""Response structs of milestones."""

from ingot.collaboration.milestones.tables import Milestone
from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp


class MilestoneView(View):
    """A milestone of a group or project."""

    id: int
    iid: int
    project_id: int | None
    group_id: int | None
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    due_date: Date | None
    start_date: Date | None
    expired: bool
    web_url: str


def milestone_view(milestone: Milestone, today: Date, base: str) -> MilestoneView:
    """Build the view of a milestone."""
    parent_path = milestone.full_path if milestone.group_id is None else f"groups/{milestone.full_path}/-"
    # Positional arguments halve the construction time, which matters in lists.
    return MilestoneView(
        milestone.id,
        milestone.iid,
        milestone.project_id,
        milestone.group_id,
        milestone.title,
        milestone.description,
        milestone.state,
        milestone.created_at,
        milestone.updated_at,
        milestone.due_date,
        milestone.start_date,
        milestone.due_date is not None and milestone.due_date < today,
        f"{base}/{parent_path}/milestones/{milestone.iid}",
    )
