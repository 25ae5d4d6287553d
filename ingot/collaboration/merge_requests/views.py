"""Response structs of merge requests."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.labels.views import LabelBrief, label_brief
from ingot.collaboration.merge_requests.approval_rules.state import without_required_approvals
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.merge_checks import (
    MergeObstacle,
    obstacle_before_git,
    obstacle_from_mergeability,
    scheduled_strategy,
)
from ingot.collaboration.merge_requests.mergeability import MERGEABLE, Mergeability
from ingot.collaboration.merge_requests.pipelines import head_statuses
from ingot.collaboration.merge_requests.queries import (
    TargetProjectSummary,
    assignees_and_reviewers_of,
    count_by_state,
    with_unresolved_discussions,
)
from ingot.collaboration.merge_requests.stacks.tree import StackPosition, stack_positions
from ingot.collaboration.merge_requests.tables import DiffVersion, MergeRequest, Strategy
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.planning.views import (
    ReferencesView,
    TaskCompletionView,
    TimeStatsView,
    task_completion_view,
    time_stats_view,
)
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.pipelines.tables import Status
from ingot.pipelines.views import PipelineBrief


class SimpleMergeRequestView(View):
    """A merge request in lists with ``view=simple``."""

    id: int
    iid: int
    project_id: int
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    web_url: str


class StackView(View):
    """The place of a merge request in a stack."""

    id: int
    """Id of the merge request at the bottom, and of the stack until that is merged."""
    position: int
    """Number of merge requests from the bottom up to this one."""
    size: int
    base: str
    """The branch into which the bottom will be merged."""


class MergeRequestView(View):
    """A merge request in lists."""

    id: int
    iid: int
    project_id: int
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    merged_by: UserBrief | None
    merge_user: UserBrief | None
    merged_at: Timestamp | None
    closed_by: UserBrief | None
    closed_at: Timestamp | None
    target_branch: str
    source_branch: str
    user_notes_count: int
    upvotes: int
    downvotes: int
    author: UserBrief
    assignees: list[UserBrief]
    assignee: UserBrief | None
    reviewers: list[UserBrief]
    source_project_id: int | None
    target_project_id: int
    labels: Sequence[str | LabelBrief]
    draft: bool
    work_in_progress: bool
    milestone: MilestoneView | None
    merge_when_pipeline_succeeds: bool
    merge_status: str
    detailed_merge_status: str
    sha: str
    merge_commit_sha: str | None
    squash_commit_sha: str | None
    discussion_locked: bool
    should_remove_source_branch: bool | None
    force_remove_source_branch: bool
    reference: str
    references: ReferencesView
    web_url: str
    time_stats: TimeStatsView
    squash: bool
    squash_on_merge: bool
    has_conflicts: bool
    blocking_discussions_resolved: bool
    task_completion_status: TaskCompletionView
    stack: StackView | None


class ExternalIssueView(View):
    """An issue of an external issue tracker."""

    id: str
    title: str


class DiffRefsView(View):
    """Commits between which notes on lines are placed."""

    base_sha: str | None
    head_sha: str
    start_sha: str | None


class CallerPermissionsView(View):
    """Permissions of the caller."""

    can_merge: bool


class SubscribedMergeRequestView(MergeRequestView, kw_only=True):
    """A merge request with the caller's subscription."""

    subscribed: bool


class MergeRequestDetailView(MergeRequestView):
    """A merge request with all fields."""

    subscribed: bool | UnsetType = UNSET
    changes_count: str | None = None
    latest_build_started_at: Timestamp | None = None
    latest_build_finished_at: Timestamp | None = None
    first_deployed_to_production_at: Timestamp | None = None
    pipeline: PipelineBrief | None = None
    head_pipeline: PipelineBrief | None = None
    diff_refs: DiffRefsView | None = None
    merge_error: str | None = None
    user: CallerPermissionsView | UnsetType = UNSET
    diverged_commits_count: int | UnsetType = UNSET
    rebase_in_progress: bool | UnsetType = UNSET
    first_contribution: bool | UnsetType = UNSET
    auto_merge_strategy: Strategy | None = None


class MergeRequestViewData(NamedTuple):
    """Related data of a page of merge requests."""

    users: Mapping[int, UserBrief]
    assignees: Mapping[int, Sequence[int]]
    reviewers: Mapping[int, Sequence[int]]
    labels: Mapping[int, Sequence[str | LabelBrief]]
    milestones: Mapping[int, MilestoneView]
    targets: Mapping[int, TargetProjectSummary]
    unresolved: frozenset[int]
    unapproved: frozenset[int]
    pipelines: Mapping[int, Status]
    """Statuses of the head pipelines, only for projects that require a successful one."""
    mergeabilities: Mapping[int, Mergeability | None]
    stacks: Mapping[int, StackPosition]
    base: str


def merge_request_views(
    db: Connection,
    page: Sequence[MergeRequest],
    base: str,
    targets: Mapping[int, TargetProjectSummary],
    mergeabilities: Mapping[int, Mergeability | None],
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """Build the views of a page of merge requests, with one statement for each relation."""
    if not page:
        return []
    data = _gather(db, page, base, targets, mergeabilities, with_labels_details=with_labels_details)
    return [MergeRequestView(*_fields(merge_request, data)) for merge_request in page]


def merge_request_detail_view(
    db: Connection,
    merge_request: MergeRequest,
    base: str,
    target: TargetProjectSummary,
    mergeability: Mergeability | None,
    version: DiffVersion | None,
    users: tuple[Sequence[int], Sequence[int]] | None = None,
) -> MergeRequestDetailView:
    """Build the detailed view; ``version`` is the latest one, ``users`` are assignees and reviewers, if known."""
    targets, mergeabilities = {merge_request.target_project_id: target}, {merge_request.id: mergeability}
    users_by_id = None if users is None else ({merge_request.id: users[0]}, {merge_request.id: users[1]})
    data = _gather(db, [merge_request], base, targets, mergeabilities, users_by_id=users_by_id)
    view = MergeRequestDetailView(*_fields(merge_request, data))
    view.merge_error = merge_request.merge_error
    view.auto_merge_strategy = scheduled_strategy(merge_request)
    if version is not None:
        view.changes_count = version.files_count
        view.diff_refs = DiffRefsView(version.base_oid, version.head_oid, version.start_oid)
    return view


def simple_views(
    page: Sequence[MergeRequest], base: str, targets: Mapping[int, TargetProjectSummary]
) -> list[SimpleMergeRequestView]:
    """Build the views of a page with few fields."""
    return [
        SimpleMergeRequestView(
            id=merge_request.id,
            iid=merge_request.iid,
            project_id=merge_request.target_project_id,
            title=merge_request.title,
            description=merge_request.description,
            state=merge_request.state,
            created_at=merge_request.created_at,
            updated_at=merge_request.updated_at,
            web_url=web_url(base, targets[merge_request.target_project_id].path, merge_request.iid),
        )
        for merge_request in page
    ]


def web_url(base: str, path: str, iid: int) -> str:
    """Return the URL of the page of a merge request."""
    return f"{base}/{path}/merge_requests/{iid}"


def _gather(
    db: Connection,
    page: Sequence[MergeRequest],
    base: str,
    targets: Mapping[int, TargetProjectSummary],
    mergeabilities: Mapping[int, Mergeability | None],
    *,
    with_labels_details: bool = False,
    users_by_id: tuple[Mapping[int, Sequence[int]], Mapping[int, Sequence[int]]] | None = None,
) -> MergeRequestViewData:
    ids = [merge_request.id for merge_request in page]
    assignees, reviewers = users_by_id or assignees_and_reviewers_of(db, ids)
    user_ids = {
        user_id
        for merge_request in page
        for user_id in (
            merge_request.author_id,
            merge_request.merged_by_id,
            merge_request.merge_user_id,
            merge_request.closed_by_id,
            *assignees.get(merge_request.id, ()),
            *reviewers.get(merge_request.id, ()),
        )
        if user_id is not None
    }
    users = user_briefs_by_ids(db, user_ids, base)
    labels_by_id = {
        row_id: [label_brief(label) if with_labels_details else label.title for label in labels]
        for row_id, labels in labels_of(db, KIND, ids).items()
    }
    strict_projects = {row_id for row_id, target in targets.items() if target.only_allow_merge_if_pipeline_succeeds}
    checked = [
        merge_request
        for merge_request in page
        if merge_request.target_project_id in strict_projects and merge_request.state == "opened"
    ]
    milestone_ids = sorted({merge_request.milestone_id for merge_request in page if merge_request.milestone_id})
    milestones = milestones_by_ids(db, milestone_ids) if milestone_ids else {}
    return MergeRequestViewData(
        users,
        assignees,
        reviewers,
        labels_by_id,
        {row_id: milestone_view(milestone, db.today, base) for row_id, milestone in milestones.items()},
        targets,
        with_unresolved_discussions(db, ids),
        without_required_approvals(db, page, {row_id: target.options for row_id, target in targets.items()}),
        head_statuses(db, checked) if checked else {},
        mergeabilities,
        stack_positions(db, page),
        base,
    )


def _fields(merge_request: MergeRequest, data: MergeRequestViewData) -> tuple[Any, ...]:
    """Return the fields of a view by position, which takes half as long as by name."""
    users, target, mergeability = (
        data.users,
        data.targets[merge_request.target_project_id],
        data.mergeabilities.get(merge_request.id),
    )
    assignees = [users[user_id] for user_id in data.assignees.get(merge_request.id, ())]
    draft, short = is_draft(merge_request.title), f"!{merge_request.iid}"
    resolved = merge_request.id not in data.unresolved
    merged_by = users.get(merge_request.merged_by_id or 0)
    return (
        merge_request.id,
        merge_request.iid,
        merge_request.target_project_id,
        merge_request.title,
        merge_request.description,
        merge_request.state,
        merge_request.created_at,
        merge_request.updated_at,
        merged_by,
        merged_by or users.get(merge_request.merge_user_id or 0),
        merge_request.merged_at,
        users.get(merge_request.closed_by_id or 0),
        merge_request.closed_at,
        merge_request.target_branch,
        merge_request.source_branch,
        merge_request.user_notes_count,
        merge_request.upvotes,
        merge_request.downvotes,
        users[merge_request.author_id],
        assignees,
        assignees[0] if assignees else None,
        [users[user_id] for user_id in data.reviewers.get(merge_request.id, ())],
        merge_request.source_project_id,
        merge_request.target_project_id,
        data.labels.get(merge_request.id, []),
        draft,
        draft,
        data.milestones.get(merge_request.milestone_id or 0),
        merge_request.merge_when_pipeline_succeeds,
        merge_status(merge_request, mergeability),
        _detailed_status(merge_request, target, mergeability, data, resolved=resolved),
        merge_request.head_oid,
        merge_request.merge_commit_oid,
        merge_request.squash_commit_oid,
        merge_request.discussion_locked,
        _should_remove_source_branch(merge_request),
        merge_request.remove_source_branch,
        short,
        ReferencesView(short, short, f"{target.path}{short}"),
        web_url(data.base, target.path, merge_request.iid),
        time_stats_view(merge_request),
        merge_request.squash,
        merge_request.squash,
        merge_request.state == "opened" and mergeability == "conflict",
        resolved,
        task_completion_view(merge_request),
        stack_view(data.stacks.get(merge_request.id)),
    )


def stack_view(place: StackPosition | None) -> StackView | None:
    """Build the view of a place in a stack."""
    return None if place is None else StackView(place.bottom_id, place.position, place.size, place.base)


def merge_status(merge_request: MergeRequest, mergeability: Mergeability | None) -> str:
    """Return the value of ``merge_status``; a merged merge request counts as mergeable."""
    if merge_request.state == "merged" or mergeability in MERGEABLE:
        return "can_be_merged"
    return "unchecked" if mergeability is None else "cannot_be_merged"


def _detailed_status(
    merge_request: MergeRequest,
    target: TargetProjectSummary,
    mergeability: Mergeability | None,
    data: MergeRequestViewData,
    *,
    resolved: bool,
) -> str:
    """Return the value of ``detailed_merge_status``."""
    pipeline, unapproved = data.pipelines.get(merge_request.id), merge_request.id in data.unapproved
    obstacle = obstacle_before_git(target, merge_request, pipeline, unresolved=not resolved, unapproved=unapproved)
    return detailed_merge_status(obstacle, target, merge_request, mergeability)


def detailed_merge_status(
    obstacle: MergeObstacle | None,
    target: TargetProjectSummary,
    merge_request: MergeRequest,
    mergeability: Mergeability | None,
) -> str:
    """Return the value of ``detailed_merge_status``; ``obstacle`` is the first one that needs no git operation."""
    if obstacle is not None:
        return obstacle
    if mergeability is None:
        return "unchecked"
    obstacle = obstacle_from_mergeability(target, mergeability)
    # A merge train rebases before it tests.
    if obstacle == "need_rebase" and scheduled_strategy(merge_request) == "merge_train":
        return "mergeable"
    return obstacle or "mergeable"


def _should_remove_source_branch(merge_request: MergeRequest) -> bool | None:
    if merge_request.merge_params is None:
        return None
    remove: bool | None = msgspec.json.decode(merge_request.merge_params).get("should_remove_source_branch")
    return remove


def open_merge_requests_total(db: Connection, project_id: int) -> int:
    """Return the number of a project's open merge requests."""
    return count_by_state(db, project_id).get("opened", 0)
