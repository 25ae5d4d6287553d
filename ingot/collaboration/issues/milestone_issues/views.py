"""Progress of milestones, counted by their issues."""

from collections.abc import Sequence

from ingot.collaboration.issues.milestone_issues.queries import (
    MilestoneIssueCounts,
    issue_counts_in_project,
    issue_counts_in_visible_projects,
    issue_days,
)
from ingot.collaboration.planning.scope import ProjectScope
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date

MilestoneProgress = MilestoneIssueCounts


def milestone_progress(
    db: Connection, actor: Actor, place: ProjectScope | None, milestone_ids: Sequence[int]
) -> dict[int, MilestoneProgress]:
    """Count the issues of milestones that the caller may see, in one project or everywhere; one statement for all."""
    if place is None:
        return issue_counts_in_visible_projects(db, actor, milestone_ids)
    return issue_counts_in_project(db, actor, place.access, place.project, milestone_ids)


def burndown_days(
    db: Connection, actor: Actor, place: ProjectScope | None, milestone_id: int
) -> list[tuple[Date, Date | None, int]]:
    """Return the numbers of issues of a milestone that the caller may see, by day of creation and of closing."""
    return issue_days(db, actor, place, milestone_id)
