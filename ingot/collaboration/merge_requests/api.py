"""Endpoints of merge requests."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.merge_requests import policy, queries, staged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.list_views import merge_request_list_views
from ingot.collaboration.merge_requests.merge.merge_fields import fill_merge_fields
from ingot.collaboration.merge_requests.merge.mergeability_check import check_mergeability, has_source
from ingot.collaboration.merge_requests.mergeability import Mergeability, cached_mergeabilities
from ingot.collaboration.merge_requests.params import CreateMergeRequest, GetMergeRequest, ListMergeRequests
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import target_project_summary
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import (
    MergeRequestDetailView,
    MergeRequestView,
    SimpleMergeRequestView,
    merge_request_detail_view,
    simple_views,
)
from ingot.collaboration.planning.queries import is_subscribed
from ingot.collaboration.planning.scope import ProjectScope, project_scope_in_path
from ingot.core.access.levels import Access
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.errors import Conflict
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

routes = Routes("merge_requests")


def merge_request_in_path(call: Call) -> tuple[Access, MergeRequestLookup]:
    """Find the merge request that the path names."""
    lookup = queries.find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    return lookup.here, lookup


def merge_request_as_view(
    call: Call | StagedCall,
    db: Connection,
    project: Project,
    merge_request: MergeRequest,
    *,
    asks_git: bool = False,
    lookup: MergeRequestLookup | None = None,
) -> MergeRequestDetailView:
    """Build the view of a merge request for the caller.

    With ``asks_git`` git computes the mergeability, which must not happen within a transaction. ``lookup`` saves
    queries if the merge request has not changed since it was found.
    """
    if lookup is None:
        access, project = find_project(db, call.actor, project.id)
        users = None
    else:
        access, users = lookup.here, (lookup.assignees, lookup.reviewers)
    store, base = repository_store(call.settings), call.origin.base
    repository = store.open(project.repository_key)
    if merge_request.state == "opened" and not has_source(db, store, repository, merge_request):
        mergeability: Mergeability | None = "nothing"
    elif asks_git:
        mergeability = check_mergeability(db, repository, merge_request)
    else:
        keys = {project.id: project.repository_key}
        mergeability = cached_mergeabilities(store, keys, [merge_request]).get(merge_request.id)
    version = queries.latest_version(db, merge_request.id)
    view = merge_request_detail_view(
        db, merge_request, base, target_project_summary(project), mergeability, version, users
    )
    view.subscribed = follows(call, db, merge_request, [user.id for user in view.assignees])
    fill_merge_fields(db, call.actor, MergeRequestLookup(access, project, merge_request, ()), view, base)
    return view


def follows(call: Call | StagedCall, db: Connection, merge_request: MergeRequest, assignees: Sequence[int]) -> bool:
    """Return whether the caller receives notifications about the merge request."""
    return is_subscribed(db, call.actor.user_id, KIND, merge_request.id, (merge_request.author_id, *assignees))


def merge_requests_as_views(
    call: Call, listing: Listing[MergeRequest], params: ListMergeRequests, project: Project | None = None
) -> Listing[Any]:
    """Build the views of a page of merge requests, as the ``view`` parameter requests."""
    if params.view == "simple":
        targets = (
            {project.id: target_project_summary(project)}
            if project
            else queries.target_project_summaries(call.db, listing.items)
        )
        return listing.of(simple_views(listing.items, call.origin.base, targets))
    store, details = repository_store(call.settings), params.with_labels_details
    views = merge_request_list_views(
        call.db, store, listing.items, call.origin.base, project, with_labels_details=details
    )
    return listing.of(views)


@routes.get("/merge_requests", may=signed_in, returns=list[MergeRequestView | SimpleMergeRequestView])
def list_merge_requests(call: Call, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List merge requests, by default those that the caller created."""
    return merge_requests_as_views(call, queries.list_merge_requests(call.db, call.actor, params, page), params)


@routes.get(
    "/groups/:id/merge_requests",
    on=group_in_path,
    may=may_see_group,
    returns=list[MergeRequestView | SimpleMergeRequestView],
)
def list_group_merge_requests(call: Call, group: Namespace, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List the merge requests of the projects of a group."""
    return merge_requests_as_views(
        call, queries.list_group_merge_requests(call.db, call.actor, group.id, params, page), params
    )


@routes.get(
    "/projects/:id/merge_requests",
    on=project_scope_in_path,
    may=policy.may_list_merge_requests,
    returns=list[MergeRequestView | SimpleMergeRequestView],
)
def list_project_merge_requests(
    call: Call, lookup: ProjectScope, params: ListMergeRequests, page: Page
) -> Listing[Any]:
    """List the merge requests of a project."""
    listing = queries.list_project_merge_requests(call.db, call.actor, lookup.project, params, page)
    return merge_requests_as_views(call, listing, params, lookup.project)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=MergeRequestDetailView,
)
def get_merge_request(call: Call, lookup: MergeRequestLookup, params: GetMergeRequest) -> MergeRequestDetailView:
    """Get a merge request."""
    view = merge_request_as_view(call, call.db, lookup.project, lookup.merge_request, asks_git=True, lookup=lookup)
    if params.include_diverged_commits_count:
        repository = repository_store(call.settings).open(lookup.project.repository_key)
        view.diverged_commits_count = queries.diverged_commits_count(repository, lookup.merge_request)
    if params.include_rebase_in_progress:
        view.rebase_in_progress = False  # A rebase ends before its response is sent.
    return view


@routes.post(
    "/projects/:id/merge_requests",
    on=project_scope_in_path,
    may=policy.may_offer_branches,
    returns=MergeRequestDetailView,
    staged=True,
    instead={409: dict[str, list[str]], 422: dict[str, list[str]]},
)
def create_merge_request(stage: StagedCall, lookup: ProjectScope, params: CreateMergeRequest) -> object:
    """Create a merge request from a branch of this project."""

    def show(db: Connection, project: Project, created: MergeRequest) -> MergeRequestDetailView:
        return merge_request_as_view(stage, db, project, created)

    store = repository_store(stage.settings)
    try:
        return staged.create_merge_request(stage.database, store, stage.actor, lookup, params, show)
    except staged.InvalidMergeRequest as error:
        return AlternateResponse(422, {"message": [str(error)]})
    except Conflict as error:
        return AlternateResponse(409, {"message": [error.message]})
