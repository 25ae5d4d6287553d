"""Members and who asks to become one, over the API: groups and projects have the same calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.groups.members import queries, service
from ingot.groups.members.params import AddMember, ApproveRequest, EditMember, ListMembers
from ingot.groups.members.views import MemberView, RequesterView, member_view, requester_view
from ingot.names import NAMESPACES

P = TypeVar("P")
Rule = Callable[[Actor, Access, Any], bool]


@dataclass(frozen=True, slots=True)
class Joined(Generic[P]):
    """What a room tells of what people belong to; ``P`` is what its finder finds."""

    finder: Callable[[Call], tuple[Access, P]]
    again: Callable[[Connection, Actor, P], Access]
    """What the caller holds there."""
    source: Callable[[P], queries.Source]
    may_see: Rule
    may_leave: Rule
    may_ask: Rule
    may_admin: Rule
    may_change: Rule
    """The same, while it is not kept as it is."""

    def here(self, call: Call, found: P) -> tuple[Access, queries.Source]:
        """What the caller holds, and where."""
        return self.again(call.db, call.actor, found), self.source(found)

    def require_own_or_admin(self, call: Call, found: P, user_id: int) -> tuple[Access, queries.Source]:
        """The same for what everybody may do to themselves, and administrators of it to others."""
        here, source = self.here(call, found)
        require(user_id == call.actor.user_id or self.may_admin(call.actor, here, found))
        return here, source


def member_routes(routes: Routes, path: str, joined: Joined[P]) -> None:
    """Declare what can be done with members below a path."""
    finder, every, one = joined.finder, f"{path}/members", f"{path}/members/:user_id"

    @routes.get(every, on=finder, may=joined.may_see, returns=list[MemberView])
    def list_members(call: Call, found: P, params: ListMembers, page: Page) -> Listing[MemberView]:
        """List the members of a group or a project."""
        listing = queries.list_members(call.db, joined.source(found), params, page)
        return listing.of([member_view(member, call.origin.base) for member in listing.items])

    @routes.get(one, on=finder, may=joined.may_see, returns=MemberView)
    def get_member(call: Call, found: P) -> MemberView:
        """Get a member of a group or a project."""
        member = queries.find_member(call.db, joined.source(found), path_number(call.path, "user_id"))
        return member_view(member, call.origin.base)

    @routes.post(every, on=finder, may=joined.may_change, returns=MemberView, locks=NAMESPACES)
    def add_member(call: Call, found: P, params: AddMember) -> MemberView:
        """Add a member to a group or a project."""
        here, source = joined.here(call, found)
        service.add_member(call.db, call.actor, here, source, params.user_id, params.access_level, params.expires_at)
        return _put_member(call, source, params.user_id)

    @routes.put(one, on=finder, may=joined.may_change, returns=MemberView, locks=NAMESPACES)
    def edit_member(call: Call, found: P, params: EditMember) -> MemberView:
        """Change a member of a group or a project."""
        here, source = joined.here(call, found)
        user_id = path_number(call.path, "user_id")
        service.edit_member(call.db, call.actor, here, source, user_id, params.access_level, params.expires_at)
        return _put_member(call, source, user_id)

    @routes.delete(one, on=finder, may=joined.may_leave, returns=None, locks=NAMESPACES)
    def remove_member(call: Call, found: P) -> None:
        """Remove a member from a group or a project; everybody may leave."""
        user_id = path_number(call.path, "user_id")
        here, source = joined.require_own_or_admin(call, found, user_id)
        if queries.membership_or_none(call.db, source, user_id) is not None:
            service.remove_member(call.db, call.actor, here, source, user_id)


def request_routes(routes: Routes, path: str, joined: Joined[P]) -> None:
    """Declare what can be done with requests to become a member below a path."""
    finder, every, one = joined.finder, f"{path}/access_requests", f"{path}/access_requests/:user_id"

    @routes.get(every, on=finder, may=joined.may_admin, returns=list[RequesterView])
    def list_access_requests(call: Call, found: P, page: Page) -> Listing[RequesterView]:
        """List who would like to belong to a group or a project."""
        listing = queries.list_requesters(call.db, joined.source(found), page)
        return listing.of([requester_view(requester, call.origin.base) for requester in listing.items])

    @routes.post(every, on=finder, may=joined.may_ask, returns=RequesterView, locks=NAMESPACES)
    def request_access(call: Call, found: P) -> RequesterView:
        """Ask to belong to a group or a project."""
        source = joined.source(found)
        service.request_access(call.db, call.actor, source)
        return requester_view(queries.find_requester(call.db, source, call.actor.user_id), call.origin.base)

    @routes.put(f"{one}/approve", on=finder, may=joined.may_change, returns=MemberView, status=201, locks=NAMESPACES)
    def approve_access(call: Call, found: P, params: ApproveRequest) -> MemberView:
        """Let somebody belong who asked."""
        here, source = joined.here(call, found)
        user_id = path_number(call.path, "user_id")
        service.approve_request(call.db, call.actor, here, source, user_id, params.access_level)
        return _put_member(call, source, user_id)

    @routes.delete(one, on=finder, may=joined.may_leave, returns=None)
    def deny_access(call: Call, found: P) -> None:
        """Deny a request, or take one's own back."""
        user_id = path_number(call.path, "user_id")
        _, source = joined.require_own_or_admin(call, found, user_id)
        if queries.request_or_none(call.db, source, user_id) is not None:
            service.drop_request(call.db, source, user_id)


def _put_member(call: Call, source: queries.Source, user_id: int) -> MemberView:
    return member_view(queries.find_put_member(call.db, source, user_id), call.origin.base)
