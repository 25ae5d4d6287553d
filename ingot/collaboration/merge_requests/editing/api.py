"""Endpoints for editing, closing, subscribing to, time tracking and deleting merge requests."""

from typing import Any

from ingot.collaboration.external_issues import ExternalTrackers, external_issue_title
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.merge_requests import policy, queries
from ingot.collaboration.merge_requests.closes_issues import text_of
from ingot.collaboration.merge_requests.detail_views import follows, merge_request_as_view
from ingot.collaboration.merge_requests.editing import queries as issue_queries
from ingot.collaboration.merge_requests.editing import service
from ingot.collaboration.merge_requests.editing.compare import compare_for_edit
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.list_views import merge_requests_as_views
from ingot.collaboration.merge_requests.params import EditMergeRequest, ListMergeRequests
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_read_merge_requests
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.subject_kind import MERGE_REQUEST_KIND
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.collaboration.merge_requests.views import ExternalIssueView, MergeRequestDetailView, MergeRequestView
from ingot.collaboration.milestones.api import milestone_in_path
from ingot.collaboration.planning.api import IssuableEndpoints, PlanningPaths, planning_routes
from ingot.collaboration.planning.scope import ProjectScope, may_read_milestones_in, project_scope_in_path
from ingot.core.api.params import MissingParameter, given_fields, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import Invalid
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import member_source as source_of_project

routes = Routes("merge_requests")
_CLEARABLE = ("description", "assignee_ids", "assignee_id", "reviewer_ids", "milestone_id", "labels")


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=merge_request_in_path,
    may=policy.may_edit_merge_request,
    returns=MergeRequestDetailView,
    prepare=compare_for_edit,
)
def edit_merge_request(
    call: Call, lookup: MergeRequestLookup, params: EditMergeRequest, comparison: VersionComparison | None
) -> MergeRequestDetailView:
    """Edit a merge request, close it or reopen it."""
    clears = any(getattr(params, name) is None for name in _CLEARABLE)
    if not clears and not any(value is not None for value in given_fields(params).values()):
        raise MissingParameter("title")
    if params.title in ("", None) or params.target_branch in ("", None):
        raise Invalid(**{"title" if params.title in ("", None) else "target_branch": ["can't be blank"]})
    edited = service.edit_merge_request(call.db, call.actor, lookup, params, comparison)
    return merge_request_as_view(call, call.db, lookup.project, edited)


@routes.delete(
    "/projects/:id/merge_requests/:merge_request_iid",
    on=project_scope_in_path,
    may=policy.may_delete_merge_requests,
    returns=None,
)
def delete_merge_request(call: Call, lookup: ProjectScope) -> None:
    """Delete a merge request."""
    iid = path_number(call.path, "merge_request_iid")
    merge_request_lookup = queries.merge_request_or_none(call.db, lookup.access, lookup.project, iid)
    if merge_request_lookup is not None:
        service.delete_merge_request(call.db, call.actor, merge_request_lookup.merge_request)


PLANNING = planning_routes(
    routes,
    IssuableEndpoints(
        kind=MERGE_REQUEST_KIND,
        finder=merge_request_in_path,
        record=lambda lookup: lookup.merge_request,
        subject=lambda lookup: subject_of(lookup.merge_request),
        time_tracking=service.TIME_TRACKING,
        view=MergeRequestDetailView,
        make_view=lambda call, lookup: merge_request_as_view(call, call.db, lookup.project, lookup.merge_request),
        is_subscribed=lambda call, lookup: follows(call, call.db, lookup.merge_request, lookup.assignees),
        may_read=policy.may_read_merge_request,
        may_take_part=policy.may_take_part,
        may_edit=policy.may_edit_merge_request,
    ),
    PlanningPaths(
        subscribe="/projects/:id/merge_requests/:merge_request_iid/subscribe",
        unsubscribe="/projects/:id/merge_requests/:merge_request_iid/unsubscribe",
        time_estimate="/projects/:id/merge_requests/:merge_request_iid/time_estimate",
        reset_time_estimate="/projects/:id/merge_requests/:merge_request_iid/reset_time_estimate",
        add_spent_time="/projects/:id/merge_requests/:merge_request_iid/add_spent_time",
        reset_spent_time="/projects/:id/merge_requests/:merge_request_iid/reset_spent_time",
        time_stats="/projects/:id/merge_requests/:merge_request_iid/time_stats",
        participants="/projects/:id/merge_requests/:merge_request_iid/participants",
    ),
)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/closes_issues",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[IssueView | ExternalIssueView],
)
def list_issues_closed_on_merge(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[Any]:
    """List the issues that a merge request closes when it is merged."""
    tracker = call.db.ports[ExternalTrackers].tracker_or_none(call.db, lookup.project.id)
    if tracker is not None:
        return _external_issues(tracker.closed_by(text_of(lookup.merge_request)), page)
    closed = issue_queries.list_closed_issues(call.db, call.actor, lookup, page)
    return closed.of(issue_views(call.db, call.actor, closed.items, call.origin.base))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/related_issues",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[IssueView | ExternalIssueView],
)
def list_related_issues(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[Any]:
    """List the issues that a merge request, its commits or its comments mention."""
    tracker = call.db.ports[ExternalTrackers].tracker_or_none(call.db, lookup.project.id)
    if tracker is not None:
        return _external_issues(tracker.issues_mentioned_by(text_of(lookup.merge_request)), page)
    related = issue_queries.list_related_issues(call.db, call.actor, lookup, page)
    return related.of(issue_views(call.db, call.actor, related.items, call.origin.base))


def _external_issues(issue_ids: list[str], page: Page) -> Listing[Any]:
    return slice_page(
        [ExternalIssueView(id=issue_id, title=external_issue_title(issue_id)) for issue_id in issue_ids], page
    )


@routes.get(
    "/projects/:id/milestones/:milestone_id/merge_requests",
    on=project_scope_in_path,
    may=may_read_milestones_in,
    returns=list[MergeRequestView],
)
def list_milestone_merge_requests(call: Call, lookup: ProjectScope, page: Page) -> Listing[Any]:
    """List the merge requests of a project that have one of its milestones."""
    milestone = milestone_in_path(call, source_of_project(lookup.project))
    if not may_read_merge_requests(call.actor, lookup.access, lookup.project):
        return Listing([], page, 0)
    listing = queries.list_milestone_merge_requests(call.db, call.actor, milestone.id, lookup.project, page)
    return merge_requests_as_views(call, listing, ListMergeRequests(), lookup.project)


@routes.get(
    "/groups/:id/milestones/:milestone_id/merge_requests",
    on=group_in_path,
    may=may_see_group,
    returns=list[MergeRequestView],
)
def list_group_milestone_merge_requests(call: Call, group: Namespace, page: Page) -> Listing[Any]:
    """List the merge requests that have a milestone of a group."""
    milestone = milestone_in_path(call, source_of_group(group))
    listing = queries.list_milestone_merge_requests(call.db, call.actor, milestone.id, None, page)
    return merge_requests_as_views(call, listing, ListMergeRequests())
