"""Response structs of invitations."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp
from ingot.projects.invitations.queries import ListedInvitation


class InvitationView(View):
    """Pending invitation of an email address."""

    id: int
    invite_email: str
    created_at: Timestamp
    access_level: int
    expires_at: Date | None
    created_by_name: str | None


class InviteResultView(View):
    """Outcome of a request for invitations; ``message`` has the reasons by address or user that was not invited."""

    status: Literal["success", "error"]
    message: dict[str, str] | UnsetType = UNSET


def invitation_view(invitation: ListedInvitation) -> InvitationView:
    """Return the view of a pending invitation."""
    return InvitationView(
        invitation.id,
        invitation.email,
        invitation.created_at,
        invitation.access_level,
        invitation.expires_at,
        invitation.created_by_name,
    )


def invite_result_view(errors: dict[str, str]) -> InviteResultView:
    """Return the outcome, with the reasons by address or username."""
    return InviteResultView("error", errors) if errors else InviteResultView("success")
