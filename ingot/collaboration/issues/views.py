"""Response structs of issues."""

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.issues.hierarchy import relatives
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.ports import IssueMergeRequests
from ingot.collaboration.issues.queries import assignees_of, label_titles_of, visible_counts, visible_issue_ids
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.timeline.policy import INCIDENT
from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.participants.queries import is_subscribed
from ingot.collaboration.planning.scope import ProjectScope
from ingot.collaboration.planning.views import (
    ReferencesView,
    TaskCompletionView,
    TimeStatsView,
    task_completion_view,
    time_stats_view,
)
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp
from ingot.projects.projects.queries import paths_of_projects


class IssueCountsView(View):
    """Number of issues by state."""

    all: int
    closed: int
    opened: int


class CountedIssuesView(View):
    """Counts within the statistics of issues."""

    counts: IssueCountsView


class IssueStatisticsView(View):
    """Statistics of issues."""

    statistics: CountedIssuesView


class IssueLinksView(View):
    """URLs of an issue and its parts in the API."""

    self_: str = msgspec.field(name="self")
    notes: str
    award_emoji: str
    project: str
    closed_as_duplicate_of: None = None


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
    severity: str
    web_url: str
    time_stats: TimeStatsView
    moved_to_id: int | None
    references: ReferencesView
    task_completion_status: TaskCompletionView
    merge_requests_count: int
    links: IssueLinksView = msgspec.field(name="_links")
    subscribed: bool | UnsetType = UNSET


def issue_views(
    db: Connection,
    actor: Actor,
    page: Sequence[Issue],
    base: str,
    *,
    with_labels_details: bool = False,
    assigned: Mapping[int, Sequence[int]] | None = None,
    paths: Mapping[int, str] | None = None,
) -> list[IssueView]:
    """Build the views of a page of issues, with one statement for each relation.

    ``moved_to_id`` is set only if the caller may see that issue. ``assigned`` and ``paths`` are the assignees and the
    paths of the projects, if the caller has them already.
    """
    if not page:
        return []
    ids = [issue.id for issue in page]
    if assigned is None:
        assigned = assignees_of(db, ids)
    user_ids = [
        user_id for issue in page for user_id in (issue.author_id, issue.closed_by_id, *assigned.get(issue.id, ()))
    ]
    users = user_briefs_by_ids(db, user_ids, base)
    labels = label_briefs_of(db, "issue", ids) if with_labels_details else label_titles_of(db, ids)
    milestones = _milestones(db, {issue.milestone_id for issue in page if issue.milestone_id}, base)
    visible_targets = visible_issue_ids(
        db, actor, [issue.moved_to_id for issue in page if issue.moved_to_id is not None]
    )
    if paths is None:
        paths = paths_of_projects(db, sorted({issue.project_id for issue in page}))
    closing_counts = db.ports[IssueMergeRequests].count_closing(db, actor, ids)
    return [
        _view(
            issue,
            users,
            [users[user_id] for user_id in assigned.get(issue.id, ())],
            labels.get(issue.id, []),
            milestones.get(issue.milestone_id or 0),
            paths[issue.project_id],
            base,
            issue.moved_to_id if issue.moved_to_id in visible_targets else None,
            closing_counts.get(issue.id, 0),
        )
        for issue in page
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
    """Build the view of an issue, with the caller's subscription."""
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


def relative_views(db: Connection, actor: Actor, issue: Issue, base: str) -> tuple[IssueView | None, list[IssueView]]:
    """Return the issue that contains a task, and the tasks of an issue."""
    containing, tasks = relatives(db, actor, issue)
    views = {view.id: view for view in issue_views(db, actor, [*tasks, *filter(None, [containing])], base)}
    return views[containing.id] if containing else None, [views[task.id] for task in tasks]


def statistics_view(counts: dict[str, int]) -> IssueStatisticsView:
    """Build the view of counts by state."""
    view = IssueCountsView(all=counts["opened"] + counts["closed"], closed=counts["closed"], opened=counts["opened"])
    return IssueStatisticsView(CountedIssuesView(view))


def _milestones(db: Connection, milestone_ids: Collection[int], base: str) -> dict[int, MilestoneView]:
    if not milestone_ids:
        return {}
    milestones = milestones_by_ids(db, sorted(milestone_ids))
    return {milestone_id: milestone_view(milestone, db.today, base) for milestone_id, milestone in milestones.items()}


def _view(
    issue: Issue,
    users: dict[int, UserBrief],
    assignees: list[UserBrief],
    labels: Sequence[str | LabelBrief],
    milestone: MilestoneView | None,
    path: str,
    base: str,
    moved_to_id: int | None,
    merge_requests_count: int,
) -> IssueView:
    """Build a view by positional arguments, which takes half as long as keyword arguments."""
    short = f"#{issue.iid}"
    project_url = f"{base}/api/v4/projects/{issue.project_id}"
    url = f"{project_url}/issues/{issue.iid}"
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
        issue.issue_type.upper(),
        assignees[0] if assignees else None,
        issue.user_notes_count,
        issue.upvotes,
        issue.downvotes,
        issue.due_date,
        issue.confidential,
        issue.discussion_locked,
        issue.issue_type,
        issue.severity.upper() if issue.issue_type == INCIDENT else "UNKNOWN",
        f"{base}/{path}/issues/{issue.iid}",
        time_stats_view(issue),
        moved_to_id,
        ReferencesView(short, short, f"{path}{short}"),
        task_completion_view(issue),
        merge_requests_count,
        IssueLinksView(url, f"{url}/notes", f"{url}/award_emoji", project_url),
    )


def open_issues_total(db: Connection, actor: Actor, scope: ProjectScope) -> int:
    """Return the number of a project's open issues that the caller may see."""
    return visible_counts(db, actor, scope.access, scope.project)["opened"]
