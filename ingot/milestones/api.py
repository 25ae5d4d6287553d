"""Milestones over the API, those of projects and those of groups."""

from ingot.access.rules import require
from ingot.api.params import Missing, given, path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.groups.queries import find_group
from ingot.milestones import policy, queries, service
from ingot.milestones.params import CreateMilestone, EditMilestone, ListGroupMilestones, ListMilestones
from ingot.milestones.tables import Milestone
from ingot.milestones.views import MilestoneView, milestone_view
from ingot.projects.api import project_in_path
from ingot.projects.places import Place, source_of
from ingot.projects.tables import Project

routes = Routes("milestones")


def milestone_in_path(call: Call, source: Source) -> Milestone:
    """The milestone of a project or group that the path names."""
    return queries.find_milestone(call.db, source, path_number(call.path, "milestone_id"))


def _shown(call: Call, milestone: Milestone) -> MilestoneView:
    return milestone_view(milestone, call.db.now, call.origin.base)


def _list(call: Call, place: Place, params: ListMilestones, page: Page) -> Listing[MilestoneView]:
    found = queries.list_milestones(call.db, call.actor, source_of(place), params, page)
    return found.of([_shown(call, milestone) for milestone in found.items])


@routes.get("/projects/:id/milestones", on=project_in_path, may=policy.may_read_milestones, returns=list[MilestoneView])
def list_project_milestones(call: Call, project: Project, params: ListMilestones, page: Page) -> Listing[MilestoneView]:
    """List the milestones of a project."""
    return _list(call, project, params, page)


@routes.get("/groups/:id/milestones", on=group_in_path, may=may_see_group, returns=list[MilestoneView])
def list_group_milestones(
    call: Call, group: Namespace, params: ListGroupMilestones, page: Page
) -> Listing[MilestoneView]:
    """List the milestones of a group."""
    return _list(call, group, params, page)


@routes.get("/groups/:id/milestones/:milestone_id", on=group_in_path, may=may_see_group, returns=MilestoneView)
@routes.get(
    "/projects/:id/milestones/:milestone_id",
    on=project_in_path,
    may=policy.may_read_milestones,
    returns=MilestoneView,
)
def get_milestone(call: Call, place: Place) -> MilestoneView:
    """Get a milestone of a project or group."""
    return _shown(call, milestone_in_path(call, source_of(place)))


@routes.post("/groups/:id/milestones", on=group_in_path, may=policy.may_admin_group_milestones, returns=MilestoneView)
@routes.post("/projects/:id/milestones", on=project_in_path, may=policy.may_admin_milestones, returns=MilestoneView)
def create_milestone(call: Call, place: Place, params: CreateMilestone) -> MilestoneView:
    """Create a milestone of a project, or of a group for all projects in it."""
    return _shown(call, service.create_milestone(call.db, call.actor, source_of(place), params))


@routes.put(
    "/groups/:id/milestones/:milestone_id",
    on=group_in_path,
    may=policy.may_admin_group_milestones,
    returns=MilestoneView,
)
@routes.put(
    "/projects/:id/milestones/:milestone_id",
    on=project_in_path,
    may=policy.may_admin_milestones,
    returns=MilestoneView,
)
def edit_milestone(call: Call, place: Place, params: EditMilestone) -> MilestoneView:
    """Edit a milestone of a project or group, close it or activate it again."""
    if not given(params):
        raise Missing("title")
    source = source_of(place)
    return _shown(call, service.edit_milestone(call.db, call.actor, source, milestone_in_path(call, source), params))


@routes.delete(
    "/groups/:id/milestones/:milestone_id", on=group_in_path, may=policy.may_admin_group_milestones, returns=None
)
@routes.delete(
    "/projects/:id/milestones/:milestone_id", on=project_in_path, may=policy.may_admin_milestones, returns=None
)
def delete_milestone(call: Call, place: Place) -> None:
    """Delete a milestone of a project or group."""
    milestone = queries.milestone_or_none(call.db, source_of(place), path_number(call.path, "milestone_id"))
    if milestone is not None:
        service.delete_milestone(call.db, call.actor, milestone)


@routes.post(
    "/projects/:id/milestones/:milestone_id/promote",
    on=project_in_path,
    may=policy.may_admin_milestones,
    returns=MilestoneView,
    status=200,
)
def promote_project_milestone(call: Call, project: Project) -> MilestoneView:
    """Make a milestone of a project one of the group around it, for all projects there."""
    if project.space_owner_id is not None:
        raise Invalid("A project that is in no group has no group milestone")
    there, group = find_group(call.db, call.actor, project.namespace_id)
    require(policy.may_admin_group_milestones(call.actor, there, group))
    milestone = milestone_in_path(call, source_of(project))
    return _shown(call, service.promote_milestone(call.db, milestone, source_of(group)))
