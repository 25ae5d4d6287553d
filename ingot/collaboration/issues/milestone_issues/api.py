"""Endpoints of the issues of milestones."""

from ingot.collaboration.issues.milestone_issues import queries
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.milestones.api import milestone_in_path
from ingot.collaboration.planning.scope import ProjectScope, may_read_milestones_in, project_scope_in_path
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
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
    listing = queries.list_project_issues(call.db, call.actor, lookup.access, lookup.project, milestone, page)
    return listing.of(issue_views(call.db, call.actor, listing.items, call.origin.base))


@routes.get("/groups/:id/milestones/:milestone_id/issues", on=group_in_path, may=may_see_group, returns=list[IssueView])
def list_group_milestone_issues(call: Call, group: Namespace, page: Page) -> Listing[IssueView]:
    """List the issues that have a milestone of a group."""
    milestone = milestone_in_path(call, source_of_group(group))
    listing = queries.list_group_issues(call.db, call.actor, milestone, page)
    return listing.of(issue_views(call.db, call.actor, listing.items, call.origin.base))
