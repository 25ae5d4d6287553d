"""Endpoints of the milestones of projects and groups."""

from ingot.collaboration.milestones import policy, queries, service
from ingot.collaboration.milestones.params import CreateMilestone, EditMilestone, ListGroupMilestones, ListMilestones
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.core.access.rules import require
from ingot.core.api.params import MissingParameter, given_fields, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.groups.queries import find_group
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.tables import Project

routes = Routes("milestones")


def milestone_in_path(call: Call, source: MemberSource) -> Milestone:
    """Find the milestone of a project or group in the path."""
    return queries.find_milestone(call.db, source, path_number(call.path, "milestone_id"))


def _milestone_as_view(call: Call, milestone: Milestone) -> MilestoneView:
    return milestone_view(milestone, call.db.today, call.origin.base)


def _list(call: Call, parent: ProjectOrGroup, params: ListMilestones, page: Page) -> Listing[MilestoneView]:
    listing = queries.list_milestones(call.db, call.actor, member_source(parent), params, page)
    return listing.of([_milestone_as_view(call, milestone) for milestone in listing.items])


@routes.get(
    "/projects/:id/milestones",
    on=project_in_path,
    may=policy.may_read_milestones,
    returns=list[MilestoneView],
    cached=True,
)
def list_project_milestones(call: Call, project: Project, params: ListMilestones, page: Page) -> Listing[MilestoneView]:
    """List the milestones of a project."""
    return _list(call, project, params, page)


@routes.get("/groups/:id/milestones", on=group_in_path, may=may_see_group, returns=list[MilestoneView], cached=True)
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
def get_milestone(call: Call, parent: ProjectOrGroup) -> MilestoneView:
    """Get a milestone of a project or group."""
    return _milestone_as_view(call, milestone_in_path(call, member_source(parent)))


@routes.post("/groups/:id/milestones", on=group_in_path, may=policy.may_admin_group_milestones, returns=MilestoneView)
@routes.post("/projects/:id/milestones", on=project_in_path, may=policy.may_admin_milestones, returns=MilestoneView)
def create_milestone(call: Call, parent: ProjectOrGroup, params: CreateMilestone) -> MilestoneView:
    """Create a milestone of a project or group."""
    return _milestone_as_view(call, service.create_milestone(call.db, call.actor, member_source(parent), params))


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
def edit_milestone(call: Call, parent: ProjectOrGroup, params: EditMilestone) -> MilestoneView:
    """Edit a milestone of a project or group, close it or activate it again."""
    if not given_fields(params):
        raise MissingParameter("title")
    source = member_source(parent)
    return _milestone_as_view(
        call, service.edit_milestone(call.db, call.actor, source, milestone_in_path(call, source), params)
    )


@routes.delete(
    "/groups/:id/milestones/:milestone_id", on=group_in_path, may=policy.may_admin_group_milestones, returns=None
)
@routes.delete(
    "/projects/:id/milestones/:milestone_id", on=project_in_path, may=policy.may_admin_milestones, returns=None
)
def delete_milestone(call: Call, parent: ProjectOrGroup) -> None:
    """Delete a milestone of a project or group."""
    milestone = queries.milestone_or_none(call.db, member_source(parent), path_number(call.path, "milestone_id"))
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
    """Promote a milestone of a project to a milestone of its group."""
    if project.space_owner_id is not None:
        raise Invalid("A project that is in no group has no group milestone")
    group_access, group = find_group(call.db, call.actor, project.namespace_id)
    require(policy.may_admin_group_milestones(call.actor, group_access, group))
    milestone = milestone_in_path(call, member_source(project))
    return _milestone_as_view(call, service.promote_milestone(call.db, milestone, member_source(group)))
