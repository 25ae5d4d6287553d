"""Groups over the API, where their answers show projects."""

from msgspec import UNSET, UnsetType

from ingot.access.levels import NO_ACCESS
from ingot.access.rules import administrators, require, signed_in
from ingot.api.params import Params
from ingot.api.routes import Call, Routes
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.groups import policy, service
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.params import CreateGroup, EditGroup, ListGroups
from ingot.groups.queries import find_group
from ingot.groups.queries import list_groups as find_groups
from ingot.groups.views import GroupStatisticsView, GroupView, group_view
from ingot.projects.api import listed
from ingot.projects.of_groups.queries import sizes_in
from ingot.projects.params import ListGroupProjects, ListProjects
from ingot.projects.queries import find_project, list_group_projects, list_shared_projects
from ingot.projects.service import transfer_project
from ingot.projects.views import ProjectView, SimpleProjectView, addresses_of, project_views
from ingot.users.accounts.queries import find_user

routes = Routes("groups")
MOST_SHOWN = 100


@routes.get("/groups", may=signed_in, returns=list[GroupView])
def list_groups(call: Call, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List the groups to which the caller belongs, or with all_available all that they may see."""
    found = find_groups(call.db, call.actor, params, page)
    views = [group_view(group, call.origin.base) for group in found.items]
    if params.statistics and call.actor.admin:
        _add_statistics(call.db, views)
    return found.of(views)


def _add_statistics(db: Connection, views: list[GroupView]) -> None:
    sizes = sizes_in(db, [view.id for view in views])
    for view in views:
        held = sizes.get(view.id, (0, 0, 0))
        view.statistics = GroupStatisticsView(sum(held), *held)


class GroupDetailView(GroupView):
    """A group with its projects, as many as one page holds."""

    projects: list[ProjectView] | UnsetType = UNSET
    shared_projects: list[ProjectView] | UnsetType = UNSET


class GetGroup(Params):
    """Whether to show the projects too."""

    with_projects: bool = True


def _detail(call: Call, group: Namespace, *, with_projects: bool = True) -> GroupDetailView:
    brief = group_view(group, call.origin.base)
    view = GroupDetailView(*(getattr(brief, name) for name in GroupView.__struct_fields__))
    if with_projects:
        at, page = addresses_of(call.origin, call.settings), Page(size=MOST_SHOWN)
        own = list_group_projects(call.db, call.actor, group, ListProjects(), page)
        shared = list_shared_projects(call.db, call.actor, group, ListProjects(), page)
        view.projects = project_views(call.db, call.actor, own.items, at)
        view.shared_projects = project_views(call.db, call.actor, shared.items, at)
    return view


@routes.get("/groups/:id", on=group_in_path, may=policy.may_see_group, returns=GroupDetailView)
def get_group(call: Call, group: Namespace, params: GetGroup) -> GroupDetailView:
    """Get a group with its projects."""
    return _detail(call, group, with_projects=params.with_projects)


@routes.post("/groups", may=signed_in, returns=GroupDetailView)
def create_group(call: Call, params: CreateGroup) -> GroupDetailView:
    """Create a group, or one in another."""
    creator = find_user(call.db, call.actor.user_id)
    parent: Namespace | None = None
    if params.parent_id is None:
        require(policy.may_create_group(call.actor, NO_ACCESS, creator))
    else:
        there, parent = find_group(call.db, call.actor, params.parent_id)
        require(policy.may_create_subgroup(call.actor, there, creator))
    return _detail(call, service.create_group(call.db, call.actor, params, parent))


@routes.put("/groups/:id", on=group_in_path, may=policy.may_admin_group, returns=GroupDetailView)
def edit_group(call: Call, group: Namespace, params: EditGroup) -> GroupDetailView:
    """Edit a group."""
    return _detail(call, service.edit_group(call.db, call.actor, group, params))


@routes.get(
    "/groups/:id/projects",
    on=group_in_path,
    may=policy.may_see_group,
    returns=list[ProjectView | SimpleProjectView],
)
def list_projects_of_group(
    call: Call, group: Namespace, params: ListGroupProjects, page: Page
) -> Listing[SimpleProjectView]:
    """List the projects of a group and those shared with it, with include_subgroups also of the groups in it."""
    also = {"deep": params.include_subgroups, "with_shared": params.with_shared}
    return listed(call, list_group_projects(call.db, call.actor, group, params, page, **also), params)


@routes.get(
    "/groups/:id/projects/shared",
    on=group_in_path,
    may=policy.may_see_group,
    returns=list[ProjectView | SimpleProjectView],
)
def list_projects_shared_with_group(
    call: Call, group: Namespace, params: ListProjects, page: Page
) -> Listing[SimpleProjectView]:
    """List the projects that were shared with a group."""
    return listed(call, list_shared_projects(call.db, call.actor, group, params, page), params)


@routes.post("/groups/:id/projects/:project_id", on=group_in_path, may=administrators, returns=GroupDetailView)
def transfer_project_to_group(call: Call, group: Namespace) -> GroupDetailView:
    """Put a project into a group."""
    _, project = find_project(call.db, call.actor, call.path["project_id"])
    require(not project.archived)
    transfer_project(call.db, call.actor, project, group)
    return _detail(call, group)
