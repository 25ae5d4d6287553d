"""Invitations as their recipients see them, with the group or project."""

from typing import NamedTuple

from ingot.accounts.users.addresses import claims_to_address
from ingot.accounts.users.views import names_by_ids
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.projects.invitations.queries import invitation_by_token_or_none
from ingot.projects.namespaces.queries import namespace_or_none
from ingot.projects.namespaces.tables import Invitation
from ingot.projects.projects.queries import project_or_none


class ReceivedInvitation(NamedTuple):
    """Pending invitation that a link names."""

    invitation: Invitation
    name: str
    """Full name of the group or project."""
    url: str
    """Path of its page."""
    inviter: str
    """Name of the user who sent it; empty if that user was deleted."""
    claimed: bool
    """Whether the address is one of the user's. The link has proven it, so that any claim suffices."""


def find_received_invitation(db: Connection, token: str, user_id: int | None) -> ReceivedInvitation:
    """Return the pending invitation with this token as a user sees it; raise NotFound if there is none."""
    invitation = invitation_by_token_or_none(db, token)
    if invitation is None:
        raise NotFound("Link")
    inviter = names_by_ids(db, [invitation.created_by_id]).get(invitation.created_by_id or 0, "")
    claimed = any(claim.user_id == user_id for claim in claims_to_address(db, invitation.email))
    return ReceivedInvitation(invitation, *_name_and_url(db, invitation), inviter, claimed)


def _name_and_url(db: Connection, invitation: Invitation) -> tuple[str, str]:
    if invitation.source_kind == "project":
        project = project_or_none(db, invitation.source_id)
        if project is not None:
            return project.full_name, f"/{project.full_path}"
    else:
        group = namespace_or_none(db, str(invitation.source_id))
        if group is not None:
            return group.full_name, f"/groups/{group.full_path}"
    raise NotFound("Link")
