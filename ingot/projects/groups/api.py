"""Endpoints of groups; those whose responses show projects are in ``projects/group_projects/api.py``."""

from ingot.accounts.avatars.views import avatar_response
from ingot.accounts.users.queries import find_user
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import AlternateResponse, Call, RawResponse, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES
from ingot.projects.group_shares import service as sharing
from ingot.projects.group_shares.params import ListInvitedGroups
from ingot.projects.group_shares.queries import group_ids_inviting, invited_group_ids, share_or_none
from ingot.projects.group_shares.shared_members import invited_member_queries
from ingot.projects.groups import delayed_deletion, policy, queries, service
from ingot.projects.groups.params import ListGroups, SearchGroups, TransferGroup
from ingot.projects.groups.ports import GroupProjects, StorageSizes
from ingot.projects.groups.views import GroupBrief, GroupStatisticsView, GroupView, group_brief, group_view
from ingot.projects.invitations.api import invitation_routes
from ingot.projects.members import queries as members
from ingot.projects.members.api import MemberEndpoints, member_routes, request_routes
from ingot.projects.members.params import ListMembers
from ingot.projects.members.views import MemberView, member_view
from ingot.projects.namespaces.custom_attributes import add_custom_attributes
from ingot.projects.namespaces.group_rules import require_writable_group
from ingot.projects.namespaces.locks import namespace_path_by_id
from ingot.projects.namespaces.scheduled_deletion import DeleteScheduled
from ingot.projects.namespaces.tables import Namespace

routes = Routes("groups")


def group_in_path(call: Call) -> tuple[Access, Namespace]:
    """Find the group that the path names by id or full path; raise Denied for a change of a scheduled one."""
    access, group = queries.find_group(call.db, call.actor, call.path["id"])
    if call.changes:
        require_writable_group(call.db, group)
    return access, group


def _views(call: Call, groups: list[Namespace], params: ListGroups) -> list[GroupView]:
    views = [group_view(each, call.origin.base) for each in groups]
    if params.with_custom_attributes:
        add_custom_attributes(call.db, call.actor, "group", views)
    return views


@routes.get("/groups", may=signed_in, returns=list[GroupView], cached=True)
def list_groups(call: Call, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List the groups to which the caller belongs, or with all_available all that they may see."""
    found = queries.list_groups(call.db, call.actor, params, page)
    views = _views(call, found.items, params)
    if params.statistics and call.actor.admin:
        _add_statistics(call.db, views)
    return found.of(views)


def _add_statistics(db: Connection, views: list[GroupView]) -> None:
    sizes = db.ports[GroupProjects].storage_sizes(db, [view.id for view in views])
    for view in views:
        used = sizes.get(view.id, StorageSizes(0, 0, 0))
        view.statistics = GroupStatisticsView(sum(used), *used)


@routes.get("/groups/:id/subgroups", on=group_in_path, may=policy.may_see_group, returns=list[GroupView], cached=True)
def list_subgroups(call: Call, group: Namespace, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List the direct subgroups of a group."""
    listing = queries.list_groups(call.db, call.actor, params, page, group)
    return listing.of(_views(call, listing.items, params))


@routes.get("/groups/:id/descendant_groups", on=group_in_path, may=policy.may_see_group, returns=list[GroupView])
def list_descendant_groups(call: Call, group: Namespace, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List all descendant groups of a group."""
    listing = queries.list_groups(call.db, call.actor, params, page, group, deep=True)
    return listing.of(_views(call, listing.items, params))


@routes.get("/groups/:id/avatar", on=group_in_path, may=policy.may_see_group, returns=RawResponse)
def get_group_avatar(call: Call, group: Namespace) -> RawResponse:
    """Get the avatar of a group."""
    return avatar_response(call.db, group.avatar_id)


@routes.delete(
    "/groups/:id",
    on=group_in_path,
    may=policy.may_admin_group,
    returns=None,
    instead={202: dict[str, str]},
    locks=NAMESPACES,
    on_scheduled=True,
)
def delete_group(call: Call, group: Namespace, params: DeleteScheduled) -> AlternateResponse | None:
    """Delete a group with everything in it, now or after the period of the instance."""
    scheduled = delayed_deletion.request_group_deletion(call.db, call.actor, group, params)
    return AlternateResponse(202, {"message": "202 Accepted"}) if scheduled else None


@routes.post(
    "/groups/:id/restore",
    on=group_in_path,
    may=policy.may_admin_group,
    returns=GroupView,
    locks=NAMESPACES,
    on_scheduled=True,
)
def restore_group(call: Call, group: Namespace) -> GroupView:
    """Take back the scheduled deletion of a group."""
    return group_view(delayed_deletion.restore_group(call.db, call.actor, group), call.origin.base)


@routes.post("/groups/:id/transfer", on=group_in_path, may=policy.may_admin_group, returns=GroupView, locks=NAMESPACES)
def transfer_group(call: Call, group: Namespace, params: TransferGroup) -> GroupView:
    """Move a group into another group, or to the top level."""
    creator = find_user(call.db, call.actor.user_id)
    parent: Namespace | None = None
    if params.group_id is None:
        require(policy.may_create_group(call.actor, NO_ACCESS, creator))
    else:
        access, parent = queries.find_group(call.db, call.actor, params.group_id)
        require(policy.may_create_subgroup(call.actor, access, parent, creator))
    return group_view(service.transfer_group(call.db, group, parent), call.origin.base)


@routes.get("/groups/:id/transfer_locations", on=group_in_path, may=policy.may_admin_group, returns=list[GroupBrief])
def list_transfer_locations(call: Call, group: Namespace, params: SearchGroups, page: Page) -> Listing[GroupBrief]:
    """List the groups into which the caller may move a group."""
    listing = queries.list_transfer_locations(call.db, call.actor, group, params.search, page)
    return listing.of([group_brief(each, call.origin.base) for each in listing.items])


@routes.get("/groups/:id/groups/shared", on=group_in_path, may=policy.may_see_group, returns=list[GroupView])
def list_groups_inviting_group(call: Call, group: Namespace, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List the groups into which a group was invited."""
    inviting = group_ids_inviting(call.db, group.id)
    listing = queries.list_groups(call.db, call.actor, params, page, among=inviting)
    return listing.of(_views(call, listing.items, params))


@routes.delete("/groups/:id/share/:group_id", on=group_in_path, may=policy.may_admin_group, returns=None, status=204)
def unshare_group(call: Call, group: Namespace) -> None:
    """Stop sharing a group with another one."""
    share = share_or_none(call.db, group, path_number(call.path, "group_id"))
    if share is not None:
        sharing.unshare_group(call.db, share)


@routes.get("/groups/:id/invited_groups", on=group_in_path, may=policy.may_see_group, returns=list[GroupBrief])
def list_groups_invited_into_group(
    call: Call, group: Namespace, params: ListInvitedGroups, page: Page
) -> Listing[GroupBrief]:
    """List the groups that were invited into a group or into one around it."""
    relation = params.relation or ("direct", "inherited")
    invited = invited_group_ids(
        call.db, group.id, params.min_access_level or 0, direct="direct" in relation, inherited="inherited" in relation
    )
    return list_briefs(call, invited, ListGroups(search=params.search), page)


def list_briefs(call: Call, group_ids: list[int], params: ListGroups, page: Page) -> Listing[GroupBrief]:
    """Return a page of those of the groups that the caller may see, in brief."""
    found = queries.list_groups(call.db, call.actor, params, page, among=group_ids)
    return found.of([group_brief(group, call.origin.base) for group in found.items])


@routes.get(
    "/groups/:id/members/all", on=group_in_path, may=policy.may_see_group, returns=list[MemberView], cached=True
)
def list_all_group_members(call: Call, group: Namespace, params: ListMembers, page: Page) -> Listing[MemberView]:
    """List the members of a group, of its ancestors, and of the groups invited there."""
    invited = invited_member_queries(call.db, call.actor, group.id)
    listing = members.list_members(call.db, queries.member_source(group), params, page, invited)
    return listing.of([member_view(member, call.origin.base) for member in listing.items])


@routes.get("/groups/:id/members/all/:user_id", on=group_in_path, may=policy.may_see_group, returns=MemberView)
def get_any_group_member(call: Call, group: Namespace) -> MemberView:
    """Get a member of a group, of its ancestors, or of a group invited there."""
    user_id = path_number(call.path, "user_id")
    invited = invited_member_queries(call.db, call.actor, group.id)
    member = members.find_member(call.db, queries.member_source(group), user_id, invited)
    return member_view(member, call.origin.base)


_MEMBER_ENDPOINTS = MemberEndpoints(
    group_in_path,
    access=lambda db, actor, group: queries.find_group(db, actor, group.id)[0],
    source=queries.member_source,
    path_by_id=namespace_path_by_id,
    may_see=policy.may_see_group,
    may_leave=policy.may_see_group,
    may_request=policy.may_request_access,
    may_admin=policy.may_admin_group,
    may_change=policy.may_admin_group,
)
MEMBERS = member_routes(routes, _MEMBER_ENDPOINTS, members="/groups/:id/members", member="/groups/:id/members/:user_id")
ACCESS_REQUESTS = request_routes(
    routes,
    _MEMBER_ENDPOINTS,
    requests="/groups/:id/access_requests",
    request="/groups/:id/access_requests/:user_id",
    approve="/groups/:id/access_requests/:user_id/approve",
)
INVITATIONS = invitation_routes(
    routes,
    _MEMBER_ENDPOINTS,
    lambda group: group.full_name,
    invitations="/groups/:id/invitations",
    invitation="/groups/:id/invitations/:email",
)
