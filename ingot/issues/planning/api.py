"""Issues of milestones, and their order, over the API."""

from ingot.api.params import Missing
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.groups.queries import source_of as source_of_group
from ingot.issues import policy
from ingot.issues.api import issue_in_path, place_in_path
from ingot.issues.planning import queries, service
from ingot.issues.planning.params import ReorderIssue
from ingot.issues.policy import Found, Place
from ingot.issues.queries import issue_by_id
from ingot.issues.tables import Issue
from ingot.issues.views import IssueView, issue_views
from ingot.milestones.api import milestone_in_path
from ingot.milestones.policy import may_read_milestones
from ingot.projects.queries import source_of as source_of_project

routes = Routes("issues")


def may_read_milestones_of(actor: object, here: object, place: Place) -> bool:
    """Those who see a project that has anything to plan."""
    return may_read_milestones(actor, here, place.project)  # type: ignore[arg-type] # The kernel hands over the same two.


@routes.get(
    "/projects/:id/milestones/:milestone_id/issues",
    on=place_in_path,
    may=may_read_milestones_of,
    returns=list[IssueView],
)
def list_milestone_issues(call: Call, place: Place, page: Page) -> Listing[IssueView]:
    """List the issues of a project that have one of its milestones."""
    milestone = milestone_in_path(call, source_of_project(place.project))
    found = queries.list_project_issues(call.db, call.actor, place.here, place.project, milestone, page)
    return found.of(issue_views(call.db, call.actor, found.items, call.origin.base))


@routes.get("/groups/:id/milestones/:milestone_id/issues", on=group_in_path, may=may_see_group, returns=list[IssueView])
def list_group_milestone_issues(call: Call, group: Namespace, page: Page) -> Listing[IssueView]:
    """List the issues that have a milestone of a group."""
    milestone = milestone_in_path(call, source_of_group(group))
    found = queries.list_group_issues(call.db, call.actor, milestone, page)
    return found.of(issue_views(call.db, call.actor, found.items, call.origin.base))


@routes.put("/projects/:id/issues/:issue_iid/reorder", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def reorder_issue(call: Call, found: Found, params: ReorderIssue) -> IssueView:
    """Let an issue stand between two others of its project."""
    if params.move_after_id is None and params.move_before_id is None:
        raise Missing("move_after_id")
    before = _neighbour(call, found, "move_before_id", params.move_before_id)
    after = _neighbour(call, found, "move_after_id", params.move_after_id)
    service.reorder_issue(call.db, found.issue, before, after)
    return issue_views(call.db, call.actor, [issue_by_id(call.db, found.issue.id)], call.origin.base)[0]


def _neighbour(call: Call, moved: Found, name: str, issue_id: int | None) -> Issue | None:
    if issue_id is None:
        return None
    neighbour = queries.neighbour_or_none(call.db, call.actor, moved, issue_id)
    if neighbour is None:
        raise Invalid(**{name: ["is invalid"]})
    return neighbour
