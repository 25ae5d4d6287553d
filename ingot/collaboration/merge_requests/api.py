"""Endpoints of merge requests."""

from typing import Any

from ingot.collaboration.merge_requests import create, policy, queries
from ingot.collaboration.merge_requests.detail_views import merge_request_as_view
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.list_views import merge_requests_as_views
from ingot.collaboration.merge_requests.params import CreateMergeRequest, GetMergeRequest, ListMergeRequests
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import (
    MergeRequestDetailView,
    MergeRequestView,
    SimpleMergeRequestView,
)
from ingot.collaboration.planning.scope import ProjectScope, project_scope_in_path
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Conflict
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import Project
from ingot.repositories.context import repository_state

routes = Routes("merge_requests")


@routes.get("/merge_requests", may=signed_in, returns=list[MergeRequestView | SimpleMergeRequestView], cached=True)
def list_merge_requests(call: Call, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List merge requests, by default those that the caller created."""
    return merge_requests_as_views(call, queries.list_merge_requests(call.db, call.actor, params, page), params)


@routes.get(
    "/groups/:id/merge_requests",
    on=group_in_path,
    may=may_see_group,
    returns=list[MergeRequestView | SimpleMergeRequestView],
    cached=True,
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
    cached=repository_state,
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
    cached=repository_state,
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
def create_merge_request(
    stage: StagedCall, lookup: ProjectScope, params: CreateMergeRequest
) -> MergeRequestDetailView | AlternateResponse:
    """Create a merge request from a branch of this project."""

    def show(db: Connection, project: Project, created: MergeRequest) -> MergeRequestDetailView:
        return merge_request_as_view(stage, db, project, created)

    store = repository_store(stage.settings)
    try:
        return create.create_merge_request(stage.database, store, stage.actor, lookup, params, show)
    except create.InvalidMergeRequest as error:
        return AlternateResponse(422, {"message": [str(error)]})
    except Conflict as error:
        return AlternateResponse(409, {"message": [error.message]})
