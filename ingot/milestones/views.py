"""How milestones are shown."""

from ingot.api.views import View
from ingot.db.times import Date, Timestamp, day_of
from ingot.milestones.tables import Milestone


class MilestoneView(View):
    """A milestone; of a group or of a project."""

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


def milestone_view(milestone: Milestone, now: Timestamp, base: str) -> MilestoneView:
    """One milestone."""
    place = milestone.full_path if milestone.group_id is None else f"groups/{milestone.full_path}/-"
    return MilestoneView(
        id=milestone.id,
        iid=milestone.iid,
        project_id=milestone.project_id,
        group_id=milestone.group_id,
        title=milestone.title,
        description=milestone.description,
        state=milestone.state,
        created_at=milestone.created_at,
        updated_at=milestone.updated_at,
        due_date=milestone.due_date,
        start_date=milestone.start_date,
        expired=milestone.due_date is not None and milestone.due_date < day_of(now),
        web_url=f"{base}/{place}/milestones/{milestone.iid}",
    )
