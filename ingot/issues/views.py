"""How issues are shown."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.access.actor import Actor
from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.db.times import Date, Timestamp
from ingot.issues.durations import shown_duration
from ingot.issues.queries import assignees_of
from ingot.issues.tables import Issue
from ingot.labels.queries import labels_of
from ingot.labels.tables import Label
from ingot.milestones.queries import milestones_by_ids
from ingot.milestones.tables import Milestone
from ingot.milestones.views import MilestoneView, milestone_view
from ingot.projects.queries import paths_of_projects
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.views import UserBrief, user_brief


class TimeStatsView(View):
    """How long something takes, and took so far."""

    time_estimate: int
    total_time_spent: int
    human_time_estimate: str | None
    human_total_time_spent: str | None


class LabelDetailsView(View):
    """A label where lists show more than its name."""

    id: int
    name: str
    color: str
    description: str | None
    text_color: str


class IssueReferencesView(View):
    """How an issue is referred to from near and far."""

    short: str
    relative: str
    full: str


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
    labels: list[str | LabelDetailsView]
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
    references: IssueReferencesView
    subscribed: bool | UnsetType = UNSET


def issue_views(
    db: Connection,
    found: Sequence[Issue],
    base: str,
    *,
    with_labels_details: bool = False,
) -> list[IssueView]:
    """A page of issues; one statement for each relation, however long the page is."""
    if not found:
        return []
    numbers = [issue.id for issue in found]
    assigned = assignees_of(db, numbers)
    people = [
        person for issue in found for person in (issue.author_id, issue.closed_by_id, *assigned.get(issue.id, ()))
    ]
    users = {number: user_brief(user, base) for number, user in users_by_ids(db, people).items()}
    carried = labels_of(db, "issue", numbers)
    of_milestones = milestones_by_ids(db, sorted({issue.milestone_id for issue in found if issue.milestone_id}))
    paths = paths_of_projects(db, sorted({issue.project_id for issue in found}))
    return [
        _view(
            db,
            issue,
            users,
            assigned.get(issue.id, []),
            _labels(carried.get(issue.id, []), with_labels_details),
            of_milestones,
            paths[issue.project_id],
            base,
        )
        for issue in found
    ]


def issue_view(db: Connection, actor: Actor, issue: Issue, base: str, *, subscribed: bool) -> IssueView:
    """One issue, and whether the caller follows it."""
    view = issue_views(db, [issue], base)[0]
    view.subscribed = subscribed if actor.known else UNSET
    return view


def time_stats_view(issue: Issue) -> TimeStatsView:
    """What was said of an issue's time."""
    return TimeStatsView(
        issue.time_estimate,
        issue.total_time_spent,
        shown_duration(issue.time_estimate),
        shown_duration(issue.total_time_spent),
    )


def _labels(carried: Sequence[Label], details: bool) -> list[str | LabelDetailsView]:
    if not details:
        return [label.title for label in carried]
    return [
        LabelDetailsView(label.id, label.title, label.color, label.description, text_color(label.color))
        for label in carried
    ]


def text_color(color: str) -> str:
    """Black or white, whichever reads better on a colour."""
    digits = color.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    red, green, blue = (int(digits[place : place + 2], 16) for place in (0, 2, 4))
    return "#333333" if red + green + blue > 500 else "#FFFFFF"


def _view(
    db: Connection,
    issue: Issue,
    users: dict[int, UserBrief],
    assigned: list[int],
    labels: list[str | LabelDetailsView],
    of_milestones: dict[int, Milestone],
    path: str,
    base: str,
) -> IssueView:
    milestone = of_milestones.get(issue.milestone_id or 0)
    assignees = [users[user_id] for user_id in assigned]
    short = f"#{issue.iid}"
    return IssueView(
        id=issue.id,
        iid=issue.iid,
        project_id=issue.project_id,
        title=issue.title,
        description=issue.description,
        state=issue.state,
        created_at=issue.created_at,
        updated_at=issue.updated_at,
        closed_at=issue.closed_at,
        closed_by=users.get(issue.closed_by_id or 0),
        labels=labels,
        milestone=milestone_view(milestone, db.now) if milestone else None,
        assignees=assignees,
        author=users[issue.author_id],
        type="ISSUE",
        assignee=assignees[0] if assignees else None,
        user_notes_count=issue.user_notes_count,
        upvotes=issue.upvotes,
        downvotes=issue.downvotes,
        due_date=issue.due_date,
        confidential=issue.confidential,
        discussion_locked=issue.discussion_locked,
        issue_type="issue",
        web_url=f"{base}/{path}/issues/{issue.iid}",
        time_stats=time_stats_view(issue),
        moved_to_id=issue.moved_to_id,
        references=IssueReferencesView(short, short, f"{path}{short}"),
    )
