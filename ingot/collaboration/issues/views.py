"""How issues are shown."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import assignees_of, label_titles_of, visible_issue_ids
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.participants.queries import is_subscribed
from ingot.collaboration.planning.views import ReferencesView, TimeStatsView, time_stats_view
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.queries import paths_of_projects


class IssueCountsView(View):
    """How many there are, by state."""

    all: int
    closed: int
    opened: int


class CountedIssuesView(View):
    """What is counted."""

    counts: IssueCountsView


class IssueStatisticsView(View):
    """Numbers on issues."""

    statistics: CountedIssuesView


class IssueView(View):
    """An issue."""

    id: int
    iid: int
    project_id: int
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    closed_at: Timestamp | None
    closed_by: UserBrief | None
    labels: Sequence[str | LabelBrief]
    milestone: MilestoneView | None
    assignees: list[UserBrief]
    author: UserBrief
    type: str
    assignee: UserBrief | None
    user_notes_count: int
    upvotes: int
    downvotes: int
    due_date: Date | None
    confidential: bool
    discussion_locked: bool
    issue_type: str
    web_url: str
    time_stats: TimeStatsView
    moved_to_id: int | None
    references: ReferencesView
    subscribed: bool | UnsetType = UNSET


def issue_views(
    db: Connection,
    actor: Actor,
    found: Sequence[Issue],
    base: str,
    *,
    with_labels_details: bool = False,
    assigned: Mapping[int, Sequence[int]] | None = None,
    paths: Mapping[int, str] | None = None,
) -> list[IssueView]:
    """A page of issues; one statement for each relation, however long the page is.

    Where one went on is told to those who see it there. ``assigned`` and ``paths`` are their assignees and the paths
    of their projects, where those are known already.
    """
    if not found:
        return []
    numbers = [issue.id for issue in found]
    if assigned is None:
        assigned = assignees_of(db, numbers)
    people = [
        person for issue in found for person in (issue.author_id, issue.closed_by_id, *assigned.get(issue.id, ()))
    ]
    users = user_briefs_by_ids(db, people, base)
    carried = label_briefs_of(db, "issue", numbers) if with_labels_details else label_titles_of(db, numbers)
    planned = _milestones(db, {issue.milestone_id for issue in found if issue.milestone_id}, base)
    onward = visible_issue_ids(db, actor, [issue.moved_to_id for issue in found if issue.moved_to_id is not None])
    if paths is None:
        paths = paths_of_projects(db, sorted({issue.project_id for issue in found}))
    return [
        _view(
            issue,
            users,
            [users[user_id] for user_id in assigned.get(issue.id, ())],
            carried.get(issue.id, []),
            planned.get(issue.milestone_id or 0),
            paths[issue.project_id],
            base,
            issue.moved_to_id if issue.moved_to_id in onward else None,
        )
        for issue in found
    ]


def issue_view(
    db: Connection,
    actor: Actor,
    issue: Issue,
    base: str,
    *,
    subscribed: bool,
    assignees: Sequence[int] | None = None,
    path: str | None = None,
    with_labels_details: bool = False,
) -> IssueView:
    """Return one issue, and whether the caller is subscribed to it."""
    assigned = None if assignees is None else {issue.id: assignees}
    paths = None if path is None else {issue.project_id: path}
    details = with_labels_details
    view = issue_views(db, actor, [issue], base, with_labels_details=details, assigned=assigned, paths=paths)[0]
    view.subscribed = subscribed if actor.known else UNSET
    return view


def found_issue_view(
    db: Connection, actor: Actor, found: IssueLookup, base: str, *, with_labels_details: bool = False
) -> IssueView:
    """Return an issue that was found for the caller; its page also shows the colours of its labels."""
    return issue_view(
        db,
        actor,
        found.issue,
        base,
        subscribed=is_subscribed(db, actor.user_id, "issue", found.issue.id, (found.issue.author_id, *found.assignees)),
        assignees=found.assignees,
        path=found.project.full_path,
        with_labels_details=with_labels_details,
    )


def statistics_view(counts: dict[str, int]) -> IssueStatisticsView:
    """What was counted, by state."""
    shown = IssueCountsView(all=counts["opened"] + counts["closed"], closed=counts["closed"], opened=counts["opened"])
    return IssueStatisticsView(CountedIssuesView(shown))


def _milestones(db: Connection, numbers: Collection[int], base: str) -> dict[int, MilestoneView]:
    if not numbers:
        return {}
    found = milestones_by_ids(db, sorted(numbers))
    return {number: milestone_view(milestone, db.now, base) for number, milestone in found.items()}


def _view(
    issue: Issue,
    users: dict[int, UserBrief],
    assignees: list[UserBrief],
    labels: Sequence[str | LabelBrief],
    milestone: MilestoneView | None,
    path: str,
    base: str,
    moved_to_id: int | None,
) -> IssueView:
    """In the order of the fields and without their names, which takes half as long."""
    short = f"#{issue.iid}"
    return IssueView(
        issue.id,
        issue.iid,
        issue.project_id,
        issue.title,
        issue.description,
        issue.state,
        issue.created_at,
        issue.updated_at,
        issue.closed_at,
        users.get(issue.closed_by_id) if issue.closed_by_id else None,
        labels,
        milestone,
        assignees,
        users[issue.author_id],
        "ISSUE",
        assignees[0] if assignees else None,
        issue.user_notes_count,
        issue.upvotes,
        issue.downvotes,
        issue.due_date,
        issue.confidential,
        issue.discussion_locked,
        "issue",
        f"{base}/{path}/issues/{issue.iid}",
        time_stats_view(issue),
        moved_to_id,
        ReferencesView(short, short, f"{path}{short}"),
    )
