"""Endpoints of members and access requests, declared for groups and for projects."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, PartialLock, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.names import NAMESPACES
from ingot.projects.members import queries, service
from ingot.projects.members.params import AddMember, ApproveRequest, EditMember, ListMembers
from ingot.projects.members.views import MemberView, RequesterView, member_view, requester_view
from ingot.projects.namespaces.locks import PathById, part_of

P = TypeVar("P")
PermissionCheck = Callable[[Actor, Access, Any], bool]


@dataclass(frozen=True, slots=True)
class MemberEndpoints(Generic[P]):
    """Lookups and permission checks of the groups or projects that have members; ``P`` is the subject's record."""

    finder: Callable[[Call], tuple[Access, P]]
    access: Callable[[Connection, Actor, P], Access]
    """Returns the caller's access to the subject."""
    source: Callable[[P], queries.MemberSource]
    path_by_id: PathById
    may_see: PermissionCheck
    may_leave: PermissionCheck
    may_request: PermissionCheck
    may_admin: PermissionCheck
    may_change: PermissionCheck
    """Like ``may_admin``, but false while the subject is archived."""

    @property
    def lock(self) -> PartialLock:
        """Return the lock of the top-level namespace of the subject."""
        return PartialLock(NAMESPACES, lambda call, _: part_of(call.db, call.path["id"], self.path_by_id))

    def access_and_source(self, call: Call, found: P) -> tuple[Access, queries.MemberSource]:
        """Return the caller's access and the source of members."""
        return self.access(call.db, call.actor, found), self.source(found)

    def require_own_or_admin(self, call: Call, found: P, user_id: int) -> tuple[Access, queries.MemberSource]:
        """Return access and source if the user is the caller or the caller may administer members; raise otherwise."""
        access, source = self.access_and_source(call, found)
        require(user_id == call.actor.user_id or self.may_admin(call.actor, access, found))
        return access, source


class MemberHandlers(NamedTuple):
    """Handlers of the members of groups or of projects, by which pages call them."""

    list_members: Callable[..., Listing[MemberView]]
    get_member: Callable[..., MemberView]
    add_member: Callable[..., MemberView]
    edit_member: Callable[..., MemberView]
    remove_member: Callable[..., None]


class AccessRequestHandlers(NamedTuple):
    """Handlers of the access requests of groups or of projects, by which pages call them."""

    list_access_requests: Callable[..., Listing[RequesterView]]
    request_access: Callable[..., RequesterView]
    approve_access: Callable[..., MemberView]
    deny_access: Callable[..., None]


def member_routes(routes: Routes, endpoints: MemberEndpoints[P], *, members: str, member: str) -> MemberHandlers:
    """Declare the endpoints of members, at the paths of the list and of one member."""
    finder = endpoints.finder

    @routes.get(members, on=finder, may=endpoints.may_see, returns=list[MemberView])
    def list_members(call: Call, found: P, params: ListMembers, page: Page) -> Listing[MemberView]:
        """List the members of a group or a project."""
        listing = queries.list_members(call.db, endpoints.source(found), params, page)
        return listing.of([member_view(membership, call.origin.base) for membership in listing.items])

    @routes.get(member, on=finder, may=endpoints.may_see, returns=MemberView)
    def get_member(call: Call, found: P) -> MemberView:
        """Get a member of a group or a project."""
        membership = queries.find_member(call.db, endpoints.source(found), path_number(call.path, "user_id"))
        return member_view(membership, call.origin.base)

    @routes.post(members, on=finder, may=endpoints.may_change, returns=MemberView, locks=endpoints.lock)
    def add_member(call: Call, found: P, params: AddMember) -> MemberView:
        """Add a member to a group or a project."""
        access, source = endpoints.access_and_source(call, found)
        service.add_member(call.db, call.actor, access, source, params.user_id, params.access_level, params.expires_at)
        return _written_member_view(call, source, params.user_id)

    @routes.put(member, on=finder, may=endpoints.may_change, returns=MemberView, locks=endpoints.lock)
    def edit_member(call: Call, found: P, params: EditMember) -> MemberView:
        """Change a member of a group or a project."""
        access, source = endpoints.access_and_source(call, found)
        user_id = path_number(call.path, "user_id")
        service.edit_member(call.db, call.actor, access, source, user_id, params.access_level, params.expires_at)
        return _written_member_view(call, source, user_id)

    @routes.delete(member, on=finder, may=endpoints.may_leave, returns=None, locks=endpoints.lock, on_scheduled=True)
    def remove_member(call: Call, found: P) -> None:
        """Remove a member from a group or a project; members may remove themselves."""
        user_id = path_number(call.path, "user_id")
        access, source = endpoints.require_own_or_admin(call, found, user_id)
        if queries.membership_or_none(call.db, source, user_id) is not None:
            service.remove_member(call.db, call.actor, access, source, user_id)

    return MemberHandlers(list_members, get_member, add_member, edit_member, remove_member)


def request_routes(
    routes: Routes, endpoints: MemberEndpoints[P], *, requests: str, request: str, approve: str
) -> AccessRequestHandlers:
    """Declare the endpoints of access requests, at the paths of the list, of one request and of its approval."""
    finder = endpoints.finder

    @routes.get(requests, on=finder, may=endpoints.may_admin, returns=list[RequesterView])
    def list_access_requests(call: Call, found: P, page: Page) -> Listing[RequesterView]:
        """List the access requests of a group or a project."""
        listing = queries.list_requesters(call.db, endpoints.source(found), page)
        return listing.of([requester_view(requester, call.origin.base) for requester in listing.items])

    @routes.post(requests, on=finder, may=endpoints.may_request, returns=RequesterView, locks=endpoints.lock)
    def request_access(call: Call, found: P) -> RequesterView:
        """Request access to a group or a project."""
        source = endpoints.source(found)
        service.request_access(call.db, call.actor, source)
        return requester_view(queries.find_requester(call.db, source, call.actor.user_id), call.origin.base)

    @routes.put(approve, on=finder, may=endpoints.may_change, returns=MemberView, status=201, locks=endpoints.lock)
    def approve_access(call: Call, found: P, params: ApproveRequest) -> MemberView:
        """Approve an access request."""
        access, source = endpoints.access_and_source(call, found)
        user_id = path_number(call.path, "user_id")
        service.approve_request(call.db, call.actor, access, source, user_id, params.access_level)
        return _written_member_view(call, source, user_id)

    @routes.delete(request, on=finder, may=endpoints.may_leave, returns=None)
    def deny_access(call: Call, found: P) -> None:
        """Deny an access request, or withdraw one's own."""
        user_id = path_number(call.path, "user_id")
        _, source = endpoints.require_own_or_admin(call, found, user_id)
        if queries.request_or_none(call.db, source, user_id) is not None:
            service.delete_access_request(call.db, source, user_id)

    return AccessRequestHandlers(list_access_requests, request_access, approve_access, deny_access)


def _written_member_view(call: Call, source: queries.MemberSource, user_id: int) -> MemberView:
    return member_view(queries.find_written_member(call.db, source, user_id), call.origin.base)
