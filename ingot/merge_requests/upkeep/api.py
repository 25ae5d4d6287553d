"""Editing, closing, following, timing and deleting merge requests over the API."""

from typing import Any

from ingot.api.params import Missing, given, path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import Invalid
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.groups.queries import source_of as source_of_group
from ingot.issues.api import place_in_path
from ingot.issues.planned import Planned, planning_routes
from ingot.issues.planning.api import may_read_milestones_of
from ingot.issues.policy import Place
from ingot.issues.views import IssueView, issue_views
from ingot.merge_requests import policy, queries
from ingot.merge_requests.api import follows, listed, merge_request_in_path, shown
from ingot.merge_requests.closing import text_of
from ingot.merge_requests.kind import MERGE_REQUESTS
from ingot.merge_requests.params import EditMergeRequest, ListMergeRequests
from ingot.merge_requests.policy import Found, may_read_merge_requests
from ingot.merge_requests.service import subject_of
from ingot.merge_requests.upkeep import service
from ingot.merge_requests.upkeep.queries import list_closed_issues
from ingot.merge_requests.upkeep.work import look_again
from ingot.merge_requests.versions.looking import Looked
from ingot.merge_requests.views import ExternalIssueView, MergeRequestView, OneMergeRequestView
from ingot.milestones.api import milestone_in_path
from ingot.projects.queries import source_of as source_of_project
from ingot.services.queries import external_tracker_of
from ingot.services.trackers import issue_title

routes = Routes("merge_requests")
_EMPTIED = ("description", "assignee_ids", "assignee_id", "reviewer_ids", "milestone_id", "labels")


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=merge_request_in_path,
    may=policy.may_edit_merge_request,
    returns=OneMergeRequestView,
    prepare=look_again,
)
def edit_merge_request(
    call: Call, found: Found, params: EditMergeRequest, looked: Looked | None
) -> OneMergeRequestView:
    """Edit a merge request, close it or reopen it."""
    empties = any(getattr(params, name) is None for name in _EMPTIED)
    if not empties and not any(value is not None for value in given(params).values()):
        raise Missing("title")
    if params.title in ("", None) or params.target_branch in ("", None):
        raise Invalid(**{"title" if params.title in ("", None) else "target_branch": ["can't be blank"]})
    edited = service.edit_merge_request(call.db, call.actor, found, params, looked)
    return shown(call, call.db, found.project, edited)


@routes.delete(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=place_in_path,
    may=policy.may_delete_merge_requests,
    returns=None,
)
def delete_merge_request(call: Call, place: Place) -> None:
    """Delete a merge request."""
    number = path_number(call.path, "merge_request_iid")
    found = queries.merge_request_or_none(call.db, place.here, place.project, number)
    if found is not None:
        service.delete_merge_request(call.db, call.actor, found.merge_request)


planning_routes(
    routes,
    "/projects/:id/merge_requests/:merge_request_iid",
    Planned(
        kind=MERGE_REQUESTS,
        finder=merge_request_in_path,
        row=lambda found: found.merge_request,
        subject=lambda found: subject_of(found.merge_request),
        clock=service.CLOCK,
        view=OneMergeRequestView,
        shown=lambda call, found: shown(call, call.db, found.project, found.merge_request),
        follows=lambda call, found: follows(call, call.db, found.merge_request, found.assignees),
        may_read=policy.may_read_found,
        may_take_part=policy.may_take_part,
        may_edit=policy.may_edit_merge_request,
    ),
)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/closes_issues",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=list[IssueView | ExternalIssueView],
)
def list_closed(call: Call, found: Found, page: Page) -> Listing[Any]:
    """List the issues that a merge request closes when it is merged."""
    tracker = external_tracker_of(call.db, found.project.id)
    if tracker is not None:
        named = tracker.closed_by(text_of(found.merge_request))
        return cut_page([ExternalIssueView(id=one, title=issue_title(one)) for one in named], page)
    closed = list_closed_issues(call.db, call.actor, found, page)
    return closed.of(issue_views(call.db, call.actor, closed.items, call.origin.base))


@routes.get(
    "/projects/:id/milestones/:milestone_id/merge_requests",
    on=place_in_path,
    may=may_read_milestones_of,
    returns=list[MergeRequestView],
)
def list_milestone_merge_requests(call: Call, place: Place, page: Page) -> Listing[Any]:
    """List the merge requests of a project that have one of its milestones."""
    milestone = milestone_in_path(call, source_of_project(place.project))
    if not may_read_merge_requests(call.actor, place.here, place.project):
        return Listing([], page, 0)
    found = queries.list_of_milestone(call.db, call.actor, milestone.id, place.project, page)
    return listed(call, found, ListMergeRequests(), place.project)


@routes.get(
    "/groups/:id/milestones/:milestone_id/merge_requests",
    on=group_in_path,
    may=may_see_group,
    returns=list[MergeRequestView],
)
def list_group_milestone_merge_requests(call: Call, group: Namespace, page: Page) -> Listing[Any]:
    """List the merge requests that have a milestone of a group."""
    milestone = milestone_in_path(call, source_of_group(group))
    found = queries.list_of_milestone(call.db, call.actor, milestone.id, None, page)
    return listed(call, found, ListMergeRequests())
