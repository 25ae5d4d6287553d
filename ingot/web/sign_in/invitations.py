"""Page that the mail of an invitation links to: its recipient accepts or declines."""

from urllib.parse import quote

from ingot.accounts.instance.settings import current_settings
from ingot.core.access.levels import ROLE_NAMES
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied
from ingot.core.names import NAMESPACES
from ingot.projects.invitations.service import accept_invitation, decline_invitation
from ingot.projects.sharing.received_invitations import ReceivedInvitation, find_received_invitation
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()


def _invitation_in_link(db: Connection, visit: Visit) -> ReceivedInvitation:
    user = visit.viewer.user
    return find_received_invitation(db, visit.request.path["token"], user.id if user else None)


@pages.get("/-/invites/:token", open=True)
def show_invitation(visit: Visit, db: Connection) -> PageResponse:
    """Show an invitation with buttons, because mail scanners that follow links must not accept it."""
    received = _invitation_in_link(db, visit)
    token = visit.request.path["token"]
    path = f"/-/invites/{token}"
    context = {
        "received": received,
        "path": path,
        "role": ROLE_NAMES[received.invitation.access_level],
        "sign_in_url": f"/users/sign_in?redirect_to={quote(path, safe='')}",
        "sign_up_url": f"/users/sign_up?invitation={token}" if current_settings(db).signup_enabled else "",
    }
    return TemplateResponse("sign_in/invitation.html", context)


@pages.post("/-/invites/:token/accept", notice="Invitation accepted.")
def accept(visit: Visit) -> PageResponse:
    """Make the user a member; the address must be one of theirs, so that a forwarded link is not enough."""

    def join(db: Connection) -> str:
        db.lock(NAMESPACES)
        received = _invitation_in_link(db, visit)
        if not received.claimed:
            raise Denied("This invitation was sent to another address")
        accept_invitation(db, visit.viewer.signed_in.id, received.invitation)
        return received.url

    return LocalRedirect(visit.database.write(join))


@pages.post("/-/invites/:token/decline", open=True)
def decline(visit: Visit) -> PageResponse:
    """Delete the invitation."""
    visit.database.write(lambda db: decline_invitation(db, _invitation_in_link(db, visit).invitation))
    text = "You declined the invitation. The link no longer works."
    return TemplateResponse("message.html", {"title": "Invitation declined", "text": text})
