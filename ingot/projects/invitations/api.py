"""Endpoints of invitations, declared for groups and for projects."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.api.routes import Call, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.invitations import queries, service
from ingot.projects.invitations.params import EditInvitation, Invite, ListInvitations
from ingot.projects.invitations.views import InvitationView, InviteResultView, invitation_view, invite_result_view
from ingot.projects.members.api import MemberEndpoints

P = TypeVar("P")


class InvitationHandlers(NamedTuple):
    """Handlers of the invitations into groups or projects, by which pages call them."""

    list_invitations: Callable[..., Listing[InvitationView]]
    invite: Callable[..., InviteResultView]
    edit_invitation: Callable[..., InvitationView]
    revoke_invitation: Callable[..., None]
    resend_invitation: Callable[[Connection, Actor, Any, str], None]
    """Sends the mail of a pending invitation again; not an endpoint, since GitLab has none for it."""


def invitation_routes(
    routes: Routes, endpoints: MemberEndpoints[P], name: Callable[[P], str], *, invitations: str, invitation: str
) -> InvitationHandlers:
    """Declare the endpoints of invitations, at the paths of the list and of one; ``name`` is shown in the mail."""
    finder = endpoints.finder

    @routes.get(invitations, on=finder, may=endpoints.may_admin, returns=list[InvitationView])
    def list_invitations(call: Call, found: P, params: ListInvitations, page: Page) -> Listing[InvitationView]:
        """List the pending invitations into a group or a project."""
        listing = queries.list_invitations(call.db, endpoints.source(found), params.query, page)
        return listing.of([invitation_view(each) for each in listing.items])

    @routes.post(invitations, on=finder, may=endpoints.may_change, returns=InviteResultView, locks=endpoints.lock)
    def invite(call: Call, found: P, params: Invite) -> InviteResultView:
        """Invite users or email addresses into a group or a project."""
        access, source = endpoints.access_and_source(call, found)
        return invite_result_view(service.invite(call.db, call.actor, access, source, name(found), params))

    @routes.put(invitation, on=finder, may=endpoints.may_change, returns=InvitationView)
    def edit_invitation(call: Call, found: P, params: EditInvitation) -> InvitationView:
        """Change the access level or expiry date of a pending invitation."""
        access, source = endpoints.access_and_source(call, found)
        pending = queries.find_invitation(call.db, source, call.path["email"])
        service.edit_invitation(call.db, call.actor, access, source, pending, params)
        return invitation_view(queries.find_listed_invitation(call.db, source, pending.email))

    @routes.delete(invitation, on=finder, may=endpoints.may_admin, returns=None, status=204)
    def revoke_invitation(call: Call, found: P) -> None:
        """Revoke a pending invitation."""
        access, source = endpoints.access_and_source(call, found)
        pending = queries.find_invitation(call.db, source, call.path["email"])
        service.revoke_invitation(call.db, call.actor, access, pending)

    def resend_invitation(db: Connection, actor: Actor, found: P, email: str) -> None:
        access, source = endpoints.access(db, actor, found), endpoints.source(found)
        pending = queries.find_invitation(db, source, email)
        service.resend_invitation(db, actor, access, source, name(found), pending)

    return InvitationHandlers(list_invitations, invite, edit_invitation, revoke_invitation, resend_invitation)
