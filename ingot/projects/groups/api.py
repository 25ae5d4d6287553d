"""Groups over the API, as far as they need not know their projects."""

from ingot.accounts.avatars.views import avatar_response
from ingot.accounts.users.queries import find_user
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, RawResponse, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES
from ingot.projects.group_shares.shared_members import invited_member_queries
from ingot.projects.groups import policy, queries, service
from ingot.projects.groups.params import ListGroups, TransferGroup
from ingot.projects.groups.views import GroupView, group_view
from ingot.projects.members import queries as members
from ingot.projects.members.api import MemberEndpoints, member_routes, request_routes
from ingot.projects.members.params import ListMembers
from ingot.projects.members.views import MemberView, member_view
from ingot.projects.namespaces.custom_attributes import add_custom_attributes
from ingot.projects.namespaces.tables import Namespace

routes = Routes("groups")


def group_in_path(call: Call) -> tuple[Access, Namespace]:
    """The group that the path names by number or full path."""
    return queries.find_group(call.db, call.actor, call.path["id"])


def _views(call: Call, groups: list[Namespace], params: ListGroups) -> list[GroupView]:
    views = [group_view(each, call.origin.base) for each in groups]
    if params.with_custom_attributes:
        add_custom_attributes(call.db, call.actor, "group", views)
    return views


@routes.get("/groups/:id/subgroups", on=group_in_path, may=policy.may_see_group, returns=list[GroupView])
def list_subgroups(call: Call, group: Namespace, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List the groups directly in a group."""
    found = queries.list_groups(call.db, call.actor, params, page, group)
    return found.of(_views(call, found.items, params))


@routes.get("/groups/:id/descendant_groups", on=group_in_path, may=policy.may_see_group, returns=list[GroupView])
def list_descendant_groups(call: Call, group: Namespace, params: ListGroups, page: Page) -> Listing[GroupView]:
    """List all groups in a group, however deep."""
    found = queries.list_groups(call.db, call.actor, params, page, group, deep=True)
    return found.of(_views(call, found.items, params))


@routes.get("/groups/:id/avatar", on=group_in_path, may=policy.may_see_group, returns=RawResponse)
def get_group_avatar(call: Call, group: Namespace) -> RawResponse:
    """Get the picture of a group."""
    return avatar_response(call.db, group.avatar_id)


@routes.delete("/groups/:id", on=group_in_path, may=policy.may_admin_group, returns=None, locks=NAMESPACES)
def delete_group(call: Call, group: Namespace) -> None:
    """Delete a group with everything in it."""
    service.delete_group(call.db, group)


@routes.post("/groups/:id/transfer", on=group_in_path, may=policy.may_admin_group, returns=GroupView, locks=NAMESPACES)
def transfer_group(call: Call, group: Namespace, params: TransferGroup) -> GroupView:
    """Put a group into another one, or to the top."""
    creator = find_user(call.db, call.actor.user_id)
    parent: Namespace | None = None
    if params.group_id is None:
        require(policy.may_create_group(call.actor, NO_ACCESS, creator))
    else:
        there, parent = queries.find_group(call.db, call.actor, params.group_id)
        require(policy.may_create_subgroup(call.actor, there, creator))
    return group_view(service.transfer_group(call.db, group, parent), call.origin.base)


@routes.get("/groups/:id/members/all", on=group_in_path, may=policy.may_see_group, returns=list[MemberView])
def list_all_group_members(call: Call, group: Namespace, params: ListMembers, page: Page) -> Listing[MemberView]:
    """List the members of a group, of all groups around it, and of those that were invited there."""
    ways = invited_member_queries(call.db, call.actor, group.id)
    found = members.list_members(call.db, queries.member_source(group), params, page, ways)
    return found.of([member_view(member, call.origin.base) for member in found.items])


@routes.get("/groups/:id/members/all/:user_id", on=group_in_path, may=policy.may_see_group, returns=MemberView)
def get_any_group_member(call: Call, group: Namespace) -> MemberView:
    """Get a member of a group, of one around it, or of one that was invited there."""
    user_id = path_number(call.path, "user_id")
    ways = invited_member_queries(call.db, call.actor, group.id)
    found = members.find_member(call.db, queries.member_source(group), user_id, ways)
    return member_view(found, call.origin.base)


_MEMBER_ENDPOINTS = MemberEndpoints(
    group_in_path,
    access=lambda db, actor, group: queries.find_group(db, actor, group.id)[0],
    source=queries.member_source,
    may_see=policy.may_see_group,
    may_leave=policy.may_see_group,
    may_request=policy.may_request_access,
    may_admin=policy.may_admin_group,
    may_change=policy.may_admin_group,
)
member_routes(routes, "/groups/:id", _MEMBER_ENDPOINTS)
request_routes(routes, "/groups/:id", _MEMBER_ENDPOINTS)
