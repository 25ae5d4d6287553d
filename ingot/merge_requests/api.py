"""Merge requests over the API."""

from collections.abc import Sequence
from typing import Any

from ingot.access.levels import Access
from ingot.access.rules import signed_in
from ingot.api.routes import Call, Instead, Routes, Stage
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.errors import Conflict
from ingot.followers.queries import said
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.issues.api import place_in_path
from ingot.issues.policy import Place
from ingot.merge_requests import policy, queries, work
from ingot.merge_requests.filters import KIND
from ingot.merge_requests.listing import page_of_views
from ingot.merge_requests.merging.judging import has_source, judge
from ingot.merge_requests.merging.showing import show_merging
from ingot.merge_requests.params import CreateMergeRequest, GetMergeRequest, ListMergeRequests
from ingot.merge_requests.policy import Found
from ingot.merge_requests.queries import place_of
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.verdicts import Verdict, kept_verdicts
from ingot.merge_requests.views import (
    MergeRequestView,
    OneMergeRequestView,
    SimpleMergeRequestView,
    one_view,
    simple_views,
)
from ingot.notes.queries import has_written
from ingot.projects.api import store_of
from ingot.projects.queries import find_project
from ingot.projects.tables import Project

routes = Routes("merge_requests")


def merge_request_in_path(call: Call) -> tuple[Access, Found]:
    """The merge request that the path names."""
    found = queries.find_merge_request(call.db, call.actor, call.path["id"], call.path["merge_request_iid"])
    return found.here, found


def shown(
    call: Call | Stage,
    db: Connection,
    project: Project,
    merge_request: MergeRequest,
    *,
    asks_git: bool = False,
    found: Found | None = None,
) -> OneMergeRequestView:
    """One merge request as its caller sees it; git may be asked whether it can be merged, but in no transaction.

    Where nothing has changed since it was found, what was found with it is not looked up again.
    """
    if found is None:
        here, project = find_project(db, call.actor, project.id)
        people = None
    else:
        here, people = found.here, (found.assignees, found.reviewers)
    store, base = store_of(call.settings), call.origin.base
    repository = store.open(project.repository_key)
    if merge_request.state == "opened" and not has_source(db, store, repository, merge_request):
        verdict: Verdict | None = "nothing"
    elif asks_git:
        verdict = judge(db, repository, merge_request)
    else:
        keys = {project.id: project.repository_key}
        verdict = kept_verdicts(store, keys, [merge_request]).get(merge_request.id)
    version = queries.latest_version(db, merge_request.id)
    view = one_view(db, merge_request, base, place_of(project), verdict, version, people)
    view.subscribed = follows(call, db, merge_request, [person.id for person in view.assignees])
    show_merging(db, call.actor, Found(here, project, merge_request, ()), view, base)
    return view


def follows(call: Call | Stage, db: Connection, merge_request: MergeRequest, assignees: Sequence[int]) -> bool:
    """Whether the caller follows: as they said, else whether they take part."""
    user_id = call.actor.user_id
    wish = said(db, user_id, KIND, merge_request.id)
    if wish is not None:
        return wish
    return user_id in (merge_request.author_id, *assignees) or has_written(db, KIND, merge_request.id, user_id)


def listed(
    call: Call, found: Listing[MergeRequest], params: ListMergeRequests, project: Project | None = None
) -> Listing[Any]:
    """A page of merge requests as its caller asked for it."""
    if params.view == "simple":
        places = {project.id: place_of(project)} if project else queries.places_of(call.db, found.items)
        return found.of(simple_views(found.items, call.origin.base, places))
    store, details = store_of(call.settings), params.with_labels_details
    views = page_of_views(call.db, store, found.items, call.origin.base, project, with_labels_details=details)
    return found.of(views)


@routes.get("/merge_requests", may=signed_in, returns=list[MergeRequestView | SimpleMergeRequestView])
def list_merge_requests(call: Call, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List merge requests; those that the caller wrote unless another scope is asked for."""
    return listed(call, queries.list_merge_requests(call.db, call.actor, params, page), params)


@routes.get(
    "/groups/:id/merge_requests",
    on=group_in_path,
    may=may_see_group,
    returns=list[MergeRequestView | SimpleMergeRequestView],
)
def list_group_merge_requests(call: Call, group: Namespace, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List the merge requests into the projects of a group."""
    return listed(call, queries.list_group_merge_requests(call.db, call.actor, group.id, params, page), params)


@routes.get(
    "/projects/:id/merge_requests",
    on=place_in_path,
    may=policy.may_read_place,
    returns=list[MergeRequestView | SimpleMergeRequestView],
)
def list_project_merge_requests(call: Call, place: Place, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List the merge requests of a project."""
    found = queries.list_project_merge_requests(call.db, call.actor, place.project, params, page)
    return listed(call, found, params, place.project)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=OneMergeRequestView,
)
def get_merge_request(call: Call, found: Found, params: GetMergeRequest) -> OneMergeRequestView:
    """Get a merge request."""
    view = shown(call, call.db, found.project, found.merge_request, asks_git=True, found=found)
    if params.include_diverged_commits_count:
        repository = store_of(call.settings).open(found.project.repository_key)
        view.diverged_commits_count = queries.commits_ahead(repository, found.merge_request)
    if params.include_rebase_in_progress:
        view.rebase_in_progress = False  # It is over when the call that asks for it is answered.
    return view


@routes.post(
    "/projects/:id/merge_requests",
    on=place_in_path,
    may=policy.may_offer_branches,
    returns=OneMergeRequestView,
    staged=True,
    instead={409: dict[str, list[str]], 422: dict[str, list[str]]},
)
def create_merge_request(stage: Stage, place: Place, params: CreateMergeRequest) -> object:
    """Open a merge request from a branch of this project."""

    def show(db: Connection, project: Project, made: MergeRequest) -> OneMergeRequestView:
        return shown(stage, db, project, made)

    store = store_of(stage.settings)
    try:
        return work.create_merge_request(stage.database, store, stage.actor, place, params, show)
    except work.Unsuitable as trouble:
        return Instead(422, {"message": [str(trouble)]})
    except Conflict as twin:
        return Instead(409, {"message": [twin.message]})
