"""Endpoints for the issues of milestones, and for the manual order."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.api import issue_in_path
from ingot.collaboration.issues.milestones_and_order import queries, service
from ingot.collaboration.issues.milestones_and_order.params import ReorderIssue
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.milestones.api import milestone_in_path
from ingot.collaboration.planning.scope import ProjectScope, may_read_milestones_in, project_scope_in_path
from ingot.core.api.params import MissingParameter
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import member_source as source_of_project

routes = Routes("issues")


@routes.get(
    "/projects/:id/milestones/:milestone_id/issues",
    on=project_scope_in_path,
    may=may_read_milestones_in,
    returns=list[IssueView],
)
def list_milestone_issues(call: Call, lookup: ProjectScope, page: Page) -> Listing[IssueView]:
    """List the issues of a project that have one of its milestones."""
    milestone = milestone_in_path(call, source_of_project(lookup.project))
    listing = queries.list_project_issues(call.db, call.actor, lookup.here, lookup.project, milestone, page)
    return listing.of(issue_views(call.db, call.actor, listing.items, call.origin.base))


@routes.get("/groups/:id/milestones/:milestone_id/issues", on=group_in_path, may=may_see_group, returns=list[IssueView])
def list_group_milestone_issues(call: Call, group: Namespace, page: Page) -> Listing[IssueView]:
    """List the issues that have a milestone of a group."""
    milestone = milestone_in_path(call, source_of_group(group))
    listing = queries.list_group_issues(call.db, call.actor, milestone, page)
    return listing.of(issue_views(call.db, call.actor, listing.items, call.origin.base))


@routes.put("/projects/:id/issues/:issue_iid/reorder", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def reorder_issue(call: Call, lookup: IssueLookup, params: ReorderIssue) -> IssueView:
    """Move an issue between two others of its project."""
    if params.move_after_id is None and params.move_before_id is None:
        raise MissingParameter("move_after_id")
    before = _neighbour(call, lookup, "move_before_id", params.move_before_id)
    after = _neighbour(call, lookup, "move_after_id", params.move_after_id)
    service.reorder_issue(call.db, lookup.issue, before, after)
    return issue_views(call.db, call.actor, [issue_by_id(call.db, lookup.issue.id)], call.origin.base)[0]


def _neighbour(call: Call, moved: IssueLookup, name: str, issue_id: int | None) -> Issue | None:
    if issue_id is None:
        return None
    neighbour = queries.neighbour_or_none(call.db, call.actor, moved, issue_id)
    if neighbour is None:
        raise Invalid(**{name: ["is invalid"]})
    return neighbour
