"""Groups over the API, as far as they need not know their projects."""

from ingot.access.levels import NO_ACCESS, Access
from ingot.access.rules import require
from ingot.api.params import path_number
from ingot.api.routes import Call, Raw, Routes
from ingot.avatars.views import picture
from ingot.db.paging import Listing, Page
from ingot.groups import policy, queries, service
from ingot.groups.members import queries as members
from ingot.groups.members.api import Joined, member_routes, request_routes
from ingot.groups.members.params import ListMembers
from ingot.groups.members.views import MemberView, member_view
from ingot.groups.namespaces.attributes import add_attributes
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.params import ListGroups, TransferGroup
from ingot.groups.shares.people import ways_into_group
from ingot.groups.views import GroupView, group_view
from ingot.names import NAMESPACES
from ingot.users.accounts.queries import find_user

routes = Routes("groups")


def group_in_path(call: Call) -> tuple[Access, Namespace]:
    """The group that the path names by number or full path."""
    return queries.find_group(call.db, call.actor, call.path["id"])


def _views(call: Call, groups: list[Namespace], wanted: ListGroups) -> list[GroupView]:
    views = [group_view(each, call.origin.base) for each in groups]
    if wanted.with_custom_attributes:
        add_attributes(call.db, call.actor, "group", views)
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


@routes.get("/groups/:id/avatar", on=group_in_path, may=policy.may_see_group, returns=Raw)
def get_group_avatar(call: Call, group: Namespace) -> Raw:
    """Get the picture of a group."""
    return picture(call.db, group.avatar_id)


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
    ways = ways_into_group(call.db, call.actor, group.id)
    found = members.list_members(call.db, queries.source_of(group), params, page, ways)
    return found.of([member_view(member, call.origin.base) for member in found.items])


@routes.get("/groups/:id/members/all/:user_id", on=group_in_path, may=policy.may_see_group, returns=MemberView)
def get_any_group_member(call: Call, group: Namespace) -> MemberView:
    """Get a member of a group, of one around it, or of one that was invited there."""
    user_id = path_number(call.path, "user_id")
    ways = ways_into_group(call.db, call.actor, group.id)
    found = members.find_member(call.db, queries.source_of(group), user_id, ways)
    return member_view(found, call.origin.base)


_JOINED = Joined(
    group_in_path,
    again=lambda db, actor, group: queries.find_group(db, actor, group.id)[0],
    source=queries.source_of,
    may_see=policy.may_see_group,
    may_leave=policy.may_see_group,
    may_ask=policy.may_request_access,
    may_admin=policy.may_admin_group,
    may_change=policy.may_admin_group,
)
member_routes(routes, "/groups/:id", _JOINED)
request_routes(routes, "/groups/:id", _JOINED)
