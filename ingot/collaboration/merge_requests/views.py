"""How merge requests are shown."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.labels.views import LabelBrief, label_brief
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.merge_checks import obstacle_before_git, obstacle_from_mergeability
from ingot.collaboration.merge_requests.mergeability import MERGEABLE, Mergeability
from ingot.collaboration.merge_requests.queries import (
    TargetProjectSummary,
    assignees_and_reviewers_of,
    head_statuses,
    with_unresolved_discussions,
)
from ingot.collaboration.merge_requests.tables import DiffVersion, MergeRequest
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.planning.views import ReferencesView, TimeStatsView, time_stats_view
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.repositories.pipelines.tables import Status
from ingot.repositories.pipelines.views import PipelineBrief


class SimpleMergeRequestView(View):
    """A merge request in short."""

    id: int
    iid: int
    project_id: int
    title: str
    description: str | None
    state: str
    created_at: Timestamp
    updated_at: Timestamp
    web_url: str


class MergeRequestView(View):
    """A merge request as lists show it."""

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


class ExternalIssueView(View):
    """An issue that is kept elsewhere."""

    id: str
    title: str


class DiffRefsView(View):
    """Between which commits the lines lie that are discussed."""

    base_sha: str | None
    head_sha: str
    start_sha: str | None


class CallerPermissionsView(View):
    """What the caller may do with it."""

    can_merge: bool


class SubscribedMergeRequestView(MergeRequestView, kw_only=True):
    """One of several, and whether the caller follows it."""

    subscribed: bool


class MergeRequestDetailView(MergeRequestView):
    """A merge request by itself."""

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


class MergeRequestViewData(NamedTuple):
    """What one look gathered for a page of merge requests."""

    users: Mapping[int, UserBrief]
    assigned: Mapping[int, Sequence[int]]
    reviewing: Mapping[int, Sequence[int]]
    labels: Mapping[int, Sequence[str | LabelBrief]]
    milestones: Mapping[int, MilestoneView]
    places: Mapping[int, TargetProjectSummary]
    undecided: frozenset[int]
    pipelines: Mapping[int, Status]
    """What became of the heads, where a project wants to know."""
    verdicts: Mapping[int, Mergeability | None]
    base: str


def merge_request_views(
    db: Connection,
    found: Sequence[MergeRequest],
    base: str,
    places: Mapping[int, TargetProjectSummary],
    verdicts: Mapping[int, Mergeability | None],
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """A page of merge requests; one statement for each relation, however long the page is."""
    if not found:
        return []
    shown = _gather(db, found, base, places, verdicts, with_labels_details=with_labels_details)
    return [MergeRequestView(*_fields(merge_request, shown)) for merge_request in found]


def merge_request_detail_view(
    db: Connection,
    merge_request: MergeRequest,
    base: str,
    place: TargetProjectSummary,
    mergeability: Mergeability | None,
    version: DiffVersion | None,
    people: tuple[Sequence[int], Sequence[int]] | None = None,
) -> MergeRequestDetailView:
    """One merge request, with what its last version says; who has it to do and who looks at it may be known."""
    places, verdicts = {merge_request.target_project_id: place}, {merge_request.id: mergeability}
    known = None if people is None else ({merge_request.id: people[0]}, {merge_request.id: people[1]})
    shown = _gather(db, [merge_request], base, places, verdicts, people=known)
    view = MergeRequestDetailView(*_fields(merge_request, shown))
    view.merge_error = merge_request.merge_error
    if version is not None:
        view.changes_count = version.files_count
        view.diff_refs = DiffRefsView(version.base_oid, version.head_oid, version.start_oid)
    return view


def simple_views(
    found: Sequence[MergeRequest], base: str, places: Mapping[int, TargetProjectSummary]
) -> list[SimpleMergeRequestView]:
    """A page of them in short."""
    return [
        SimpleMergeRequestView(
            id=one.id,
            iid=one.iid,
            project_id=one.target_project_id,
            title=one.title,
            description=one.description,
            state=one.state,
            created_at=one.created_at,
            updated_at=one.updated_at,
            web_url=web_url(base, places[one.target_project_id].path, one.iid),
        )
        for one in found
    ]


def web_url(base: str, path: str, iid: int) -> str:
    """Where the page of a merge request is."""
    return f"{base}/{path}/merge_requests/{iid}"


def _gather(
    db: Connection,
    found: Sequence[MergeRequest],
    base: str,
    places: Mapping[int, TargetProjectSummary],
    verdicts: Mapping[int, Mergeability | None],
    *,
    with_labels_details: bool = False,
    people: tuple[Mapping[int, Sequence[int]], Mapping[int, Sequence[int]]] | None = None,
) -> MergeRequestViewData:
    numbers = [one.id for one in found]
    assigned, reviewing = people or assignees_and_reviewers_of(db, numbers)
    named = {
        person
        for one in found
        for person in (
            one.author_id,
            one.merged_by_id,
            one.merge_user_id,
            one.closed_by_id,
            *assigned.get(one.id, ()),
            *reviewing.get(one.id, ()),
        )
        if person is not None
    }
    users = user_briefs_by_ids(db, named, base)
    carried = {
        number: [label_brief(label) if with_labels_details else label.title for label in labels]
        for number, labels in labels_of(db, KIND, numbers).items()
    }
    demanding = {number for number, place in places.items() if place.only_allow_merge_if_pipeline_succeeds}
    demanded = [one for one in found if one.target_project_id in demanding and one.state == "opened"]
    planned = sorted({one.milestone_id for one in found if one.milestone_id})
    milestones = milestones_by_ids(db, planned) if planned else {}
    return MergeRequestViewData(
        users,
        assigned,
        reviewing,
        carried,
        {number: milestone_view(milestone, db.now, base) for number, milestone in milestones.items()},
        places,
        with_unresolved_discussions(db, numbers),
        head_statuses(db, demanded) if demanded else {},
        verdicts,
        base,
    )


def _fields(one: MergeRequest, shown: MergeRequestViewData) -> tuple[Any, ...]:
    """What a view of one begins with, in its order and without names, which takes half as long."""
    users, place, verdict = shown.users, shown.places[one.target_project_id], shown.verdicts.get(one.id)
    assignees = [users[number] for number in shown.assigned.get(one.id, ())]
    draft, short = is_draft(one.title), f"!{one.iid}"
    resolved = one.id not in shown.undecided
    merged_by = users.get(one.merged_by_id or 0)
    return (
        one.id,
        one.iid,
        one.target_project_id,
        one.title,
        one.description,
        one.state,
        one.created_at,
        one.updated_at,
        merged_by,
        merged_by or users.get(one.merge_user_id or 0),
        one.merged_at,
        users.get(one.closed_by_id or 0),
        one.closed_at,
        one.target_branch,
        one.source_branch,
        one.user_notes_count,
        one.upvotes,
        one.downvotes,
        users[one.author_id],
        assignees,
        assignees[0] if assignees else None,
        [users[number] for number in shown.reviewing.get(one.id, ())],
        one.source_project_id,
        one.target_project_id,
        shown.labels.get(one.id, []),
        draft,
        draft,
        shown.milestones.get(one.milestone_id or 0),
        one.merge_when_pipeline_succeeds,
        merge_status(one, verdict),
        _detailed_status(one, place, verdict, shown.pipelines.get(one.id), resolved=resolved),
        one.head_oid,
        one.merge_commit_oid,
        one.squash_commit_oid,
        one.discussion_locked,
        _should_remove_source_branch(one),
        one.remove_source_branch,
        short,
        ReferencesView(short, short, f"{place.path}{short}"),
        web_url(shown.base, place.path, one.iid),
        time_stats_view(one),
        one.squash,
        one.squash,
        one.state == "opened" and verdict == "conflict",
        resolved,
    )


def merge_status(one: MergeRequest, mergeability: Mergeability | None) -> str:
    """Whether it can be merged, in the contract's words; what was merged could be."""
    if one.state == "merged" or mergeability in MERGEABLE:
        return "can_be_merged"
    return "unchecked" if mergeability is None else "cannot_be_merged"


def _detailed_status(
    one: MergeRequest,
    place: TargetProjectSummary,
    mergeability: Mergeability | None,
    pipeline: Status | None,
    *,
    resolved: bool,
) -> str:
    """What a merge would be refused for, in the same words."""
    ahead = obstacle_before_git(place, one, pipeline, undecided=not resolved)
    if ahead is not None:
        return ahead
    return "unchecked" if mergeability is None else obstacle_from_mergeability(place, mergeability) or "mergeable"


def _should_remove_source_branch(one: MergeRequest) -> bool | None:
    if one.merge_params is None:
        return None
    wish: bool | None = msgspec.json.decode(one.merge_params).get("should_remove_source_branch")
    return wish
