"""Endpoints of groups whose responses show projects, and of the groups of a project.

They lie here and not in ``groups``, because projects depend on groups; the other endpoints of groups are in
``groups/api.py``.
"""

from msgspec import UNSET, UnsetType

from ingot.accounts.audit_events.service import Entity, record_changes
from ingot.accounts.users.queries import find_user
from ingot.core.access.levels import NO_ACCESS
from ingot.core.access.rules import administrators, require, signed_in
from ingot.core.api.params import Params
from ingot.core.api.routes import Call, PartialLock, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES
from ingot.projects.group_projects.queries import groups_invited_to_project
from ingot.projects.group_shares import service as sharing
from ingot.projects.group_shares.params import ListInvitedGroups, ShareGroup
from ingot.projects.group_shares.queries import invited_group_ids, visible_shares
from ingot.projects.groups import policy, service
from ingot.projects.groups.api import group_in_path, list_briefs
from ingot.projects.groups.params import CreateGroup, EditGroup, ListGroups, SearchGroups
from ingot.projects.groups.ports import GroupRunners
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.groups.views import GroupBrief, GroupView, SharedGroupView, group_brief, group_view
from ingot.projects.namespaces.custom_attributes import add_custom_attributes
from ingot.projects.namespaces.group_rules import require_no_deletion_around
from ingot.projects.namespaces.locks import part_of
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path, project_page
from ingot.projects.projects.params import ListGroupProjects, ListProjectGroups, ListProjects
from ingot.projects.projects.policy import may_change_project, may_see_project, may_transfer_project
from ingot.projects.projects.queries import find_project, list_group_projects, list_shared_projects
from ingot.projects.projects.service import transfer_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import ProjectView, SimpleProjectView, instance_urls, project_views

routes = Routes("groups")
MAX_PROJECTS = 100


class GroupDetailView(GroupView):
    """Group with the first page of its projects, and with the groups invited into it."""

    shared_with_groups: list[SharedGroupView] | UnsetType = UNSET
    projects: list[ProjectView] | UnsetType = UNSET
    shared_projects: list[ProjectView] | UnsetType = UNSET
    runners_token: str | UnsetType | None = UNSET
    """Token with which runners of the group register; only owners see it."""


class GetGroup(Params):
    """Parameters of one group."""

    with_projects: bool = True
    with_custom_attributes: bool = False


def _group_detail_view(call: Call, group: Namespace, *, with_projects: bool = True) -> GroupDetailView:
    brief = group_view(group, call.origin.base)
    view = GroupDetailView(*(getattr(brief, name) for name in GroupView.__struct_fields__))
    view.shared_with_groups = [
        SharedGroupView(
            share.invited_id, share.invited_name, share.invited_full_path, share.group_access, share.expires_at
        )
        for share in visible_shares(call.db, call.actor, group)
    ]
    access, _ = find_group(call.db, call.actor, group.id)
    if policy.may_admin_group(call.actor, access, group):
        view.runners_token = call.db.ports[GroupRunners].registration_token(call.db, group.id)
    if with_projects:
        at, page = instance_urls(call.db, call.origin, call.settings), Page(size=MAX_PROJECTS)
        own = list_group_projects(call.db, call.actor, group, ListProjects(), page)
        shared = list_shared_projects(call.db, call.actor, group, ListProjects(), page)
        view.projects = project_views(call.db, call.actor, own.items, at)
        view.shared_projects = project_views(call.db, call.actor, shared.items, at)
    return view


def _with_ranges(call: Call, group: Namespace, view: GroupDetailView) -> GroupDetailView:
    """Add the addresses that may use a group, for its owners."""
    if policy.may_admin_group(call.actor, call.access, group):
        view.ip_restriction_ranges = group.ip_restriction_ranges
    return view


@routes.get("/groups/:id", on=group_in_path, may=policy.may_see_group, returns=GroupDetailView, cached=True)
def get_group(call: Call, group: Namespace, params: GetGroup) -> GroupDetailView:
    """Get a group with its projects."""
    view = _with_ranges(call, group, _group_detail_view(call, group, with_projects=params.with_projects))
    if params.with_custom_attributes:
        add_custom_attributes(call.db, call.actor, "group", [view])
    return view


def _namespace_of_new_group(call: Call, params: CreateGroup) -> list[str]:
    return [params.path.lower()] if params.parent_id is None else part_of(call.db, str(params.parent_id))


@routes.post("/groups", may=signed_in, returns=GroupDetailView, locks=PartialLock(NAMESPACES, _namespace_of_new_group))
def create_group(call: Call, params: CreateGroup) -> GroupDetailView:
    """Create a group or a subgroup."""
    creator = find_user(call.db, call.actor.user_id)
    parent: Namespace | None = None
    if params.parent_id is None:
        require(policy.may_create_group(call.actor, NO_ACCESS, creator))
    else:
        access, parent = find_group(call.db, call.actor, params.parent_id)
        require(policy.may_create_subgroup(call.actor, access, parent, creator))
    return _group_detail_view(call, service.create_group(call.db, call.actor, params, parent))


def _renames_or_publishes(params: EditGroup) -> bool:
    """Return whether an edit concerns other namespaces, such as those with former paths."""
    return any(each is not UNSET for each in (params.name, params.path, params.visibility))


_EDIT_LOCK = PartialLock(NAMESPACES, lambda call, _: part_of(call.db, call.path["id"]), _renames_or_publishes)


@routes.put("/groups/:id", on=group_in_path, may=policy.may_admin_group, returns=GroupDetailView, locks=_EDIT_LOCK)
def edit_group(call: Call, group: Namespace, params: EditGroup) -> GroupDetailView:
    """Edit a group, unless it or a group above it is scheduled for deletion."""
    require_no_deletion_around(call.db, group)
    edited = service.edit_group(call.db, call.actor, group, params)
    entity = Entity("Group", group.id, edited.full_path)
    record_changes(call, entity, service.setting_values(group), service.setting_values(edited))
    return _with_ranges(call, edited, _group_detail_view(call, edited))


@routes.post(
    "/groups/:id/share", on=group_in_path, may=policy.may_admin_group, returns=GroupDetailView, locks=NAMESPACES
)
def share_group(call: Call, group: Namespace, params: ShareGroup) -> GroupDetailView:
    """Share a group with another one."""
    _, invited = find_group(call.db, call.actor, params.group_id)
    sharing.share_group(call.db, group, invited, params.group_access, params.expires_at)
    return _group_detail_view(call, group)


@routes.get("/projects/:id/groups", on=project_in_path, may=may_see_project, returns=list[GroupBrief])
def list_groups_of_project(call: Call, project: Project, params: ListProjectGroups, page: Page) -> Listing[GroupBrief]:
    """List the groups that contain a project, and with with_shared those it is shared with."""
    found = ancestor_ids(call.db, project.namespace_id) if project.space_kind == "group" else []
    if params.with_shared:
        found += groups_invited_to_project(call.db, project, params.shared_min_access_level or 0)
    return list_briefs(call, found, ListGroups(search=params.search, skip_groups=params.skip_groups), page)


@routes.get("/projects/:id/invited_groups", on=project_in_path, may=may_see_project, returns=list[GroupBrief])
def list_groups_invited_into_project(
    call: Call, project: Project, params: ListInvitedGroups, page: Page
) -> Listing[GroupBrief]:
    """List the groups that are invited into a project or into a group that contains it."""
    relation, least = params.relation or ("direct", "inherited"), params.min_access_level or 0
    found = groups_invited_to_project(call.db, project, least) if "direct" in relation else []
    if "inherited" in relation:
        found += invited_group_ids(call.db, project.namespace_id, least)
    return list_briefs(call, found, ListGroups(search=params.search), page)


@routes.get("/projects/:id/transfer_locations", on=project_in_path, may=may_transfer_project, returns=list[GroupBrief])
def list_transfer_locations_of_project(
    call: Call, project: Project, params: SearchGroups, page: Page
) -> Listing[GroupBrief]:
    """List the groups to which the caller may move a project."""
    others = ListGroups(search=params.search, skip_groups=[project.namespace_id])
    listing = list_groups(call.db, call.actor, others, page, for_new_projects=True)
    return listing.of([group_brief(group, call.origin.base) for group in listing.items])


@routes.get("/projects/:id/share_locations", on=project_in_path, may=may_change_project, returns=list[GroupBrief])
def list_share_locations(call: Call, project: Project, params: SearchGroups, page: Page) -> Listing[GroupBrief]:
    """List the groups of the caller with which a project can be shared."""
    taken = ancestor_ids(call.db, project.namespace_id) + groups_invited_to_project(call.db, project, 0)
    others = ListGroups(search=params.search, skip_groups=taken, min_access_level=None if call.actor.admin else 10)
    listing = list_groups(call.db, call.actor, others, page)
    return listing.of([group_brief(group, call.origin.base) for group in listing.items])


@routes.get(
    "/groups/:id/projects",
    on=group_in_path,
    may=policy.may_see_group,
    returns=list[ProjectView | SimpleProjectView],
    cached=True,
)
def list_projects_of_group(
    call: Call, group: Namespace, params: ListGroupProjects, page: Page
) -> Listing[SimpleProjectView]:
    """List the projects of a group and those shared with it; include_subgroups adds those of subgroups."""
    scope = {"deep": params.include_subgroups, "with_shared": params.with_shared}
    return project_page(call, list_group_projects(call.db, call.actor, group, params, page, **scope), params)


@routes.get(
    "/groups/:id/projects/shared",
    on=group_in_path,
    may=policy.may_see_group,
    returns=list[ProjectView | SimpleProjectView],
)
def list_projects_shared_with_group(
    call: Call, group: Namespace, params: ListProjects, page: Page
) -> Listing[SimpleProjectView]:
    """List the projects that are shared with a group."""
    return project_page(call, list_shared_projects(call.db, call.actor, group, params, page), params)


@routes.post(
    "/groups/:id/projects/:project_id", on=group_in_path, may=administrators, returns=GroupDetailView, locks=NAMESPACES
)
def transfer_project_to_group(call: Call, group: Namespace) -> GroupDetailView:
    """Move a project into a group."""
    _, project = find_project(call.db, call.actor, call.path["project_id"])
    require(not project.archived)
    transfer_project(call.db, call.actor, project, group)
    return _group_detail_view(call, group)
