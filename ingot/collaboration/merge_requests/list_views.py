"""Views of pages of merge requests, with the cached mergeability of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.collaboration.merge_requests.approval_rules.queries import approvers_by_merge_request
from ingot.collaboration.merge_requests.mergeability import cached_mergeabilities
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.pipelines import head_outcomes
from ingot.collaboration.merge_requests.queries import (
    list_merge_requests_by_ids,
    merge_requirements,
    open_merge_requests_from,
    target_project_summaries,
    target_project_summary,
)
from ingot.collaboration.merge_requests.review_states import review_states
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import (
    MergeRequestView,
    SimpleMergeRequestView,
    merge_request_views,
    simple_views,
)
from ingot.core.access.actor import Actor
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.policy import may_read_project_pipelines
from ingot.pipelines.tables import Status
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import paths_of_projects, visible_projects_by_path
from ingot.projects.projects.tables import Project


def merge_request_list_views(
    db: Connection,
    store: RepositoryStore,
    page: Sequence[MergeRequest],
    base: str,
    project: Project | None = None,
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """Build the views of a page; ``project`` saves a query if all merge requests are of one project."""
    targets = {project.id: merge_requirements(db, project)} if project else target_project_summaries(db, page)
    keys = {project_id: target.repository_key for project_id, target in targets.items()}
    mergeabilities = cached_mergeabilities(store, keys, page)
    return merge_request_views(db, page, base, targets, mergeabilities, with_labels_details=with_labels_details)


def merge_requests_as_views(
    call: Call, listing: Listing[MergeRequest], params: ListMergeRequests, project: Project | None = None
) -> Listing[Any]:
    """Build the views of a page of merge requests, as the ``view`` parameter requests."""
    if params.view == "simple":
        targets = (
            {project.id: target_project_summary(project)}
            if project
            else target_project_summaries(call.db, listing.items)
        )
        return listing.of(simple_views(listing.items, call.origin.base, targets))
    store, details = repository_store(call.settings), params.with_labels_details
    views = merge_request_list_views(
        call.db, store, listing.items, call.origin.base, project, with_labels_details=details
    )
    return listing.of(views)


def open_requests_by_branch(
    db: Connection, actor: Actor, source_id: int, branches: Sequence[str], base: str
) -> dict[str, SimpleMergeRequestView]:
    """Return the newest open merge request from each of these branches of a project, as far as the caller sees it."""
    records = open_merge_requests_from(db, source_id, branches) if branches else []
    page = Page(1, max(1, len(records)))
    visible = list_merge_requests_by_ids(db, actor, [record.id for record in records], ListMergeRequests(), page).items
    views = simple_views(visible, base, target_project_summaries(db, visible)) if visible else []
    pairs = sorted(zip(visible, views, strict=True), key=lambda pair: pair[0].id)
    return {record.source_branch: view for record, view in pairs}


class ListedState(NamedTuple):
    """State of a merge request beyond its view, for lists."""

    pipeline: Status | None
    """Status of the head pipeline, if the caller may see it."""
    approvals: int
    changes_requested: bool
    """Whether a reviewer has requested changes, which block the merge."""


def listed_states(db: Connection, actor: Actor, page: Sequence[MergeRequestView]) -> dict[int, ListedState]:
    """Return the states of a page of merge requests, in a fixed number of statements."""
    if not page:
        return {}
    ids = [view.id for view in page]
    statuses = _visible_head_statuses(db, actor, page)
    approvers = approvers_by_merge_request(db, ids)
    refused = {number for (number, _), state in review_states(db, ids).items() if state == "requested_changes"}
    return {
        number: ListedState(statuses.get(number), len(approvers.get(number, ())), number in refused) for number in ids
    }


def failed_merge_requests(db: Connection, actor: Actor, page: Sequence[MergeRequestView]) -> set[int]:
    """Return the ids of the merge requests whose head pipeline failed, if the caller may see it."""
    return {number for number, status in _visible_head_statuses(db, actor, page).items() if status == "failed"}


def _visible_head_statuses(db: Connection, actor: Actor, page: Sequence[MergeRequestView]) -> dict[int, Status]:
    """Return the statuses of the head pipelines that the caller may see, in four statements."""
    outcomes = head_outcomes(db, [view.id for view in page]) if page else {}
    paths = paths_of_projects(db, sorted({source for source, _ in outcomes.values()}))
    lookups = visible_projects_by_path(db, actor, paths.values()) if paths else {}
    readable = {
        lookup.project.id
        for lookup in lookups.values()
        if may_read_project_pipelines(actor, lookup.access, lookup.project)
    }
    return {number: status for number, (source, status) in outcomes.items() if source in readable}
