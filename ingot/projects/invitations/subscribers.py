"""Subscribers that accept the invitations of an address for the user who proved it."""

from ingot.accounts.users.events import AddressProven
from ingot.accounts.users.queries import find_user
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.invitations.queries import invitations_to
from ingot.projects.invitations.service import accept_invitation

subscriptions = Subscriptions()


@subscriptions.on(AddressProven)
def accept_invitations_to_address(db: Connection, event: AddressProven) -> None:
    """Make the user a member of everything that the address was invited to."""
    invitations = invitations_to(db, event.address)
    if not invitations:
        return
    user = find_user(db, event.user_id)
    if user.bot or user.placeholder:
        return
    for invitation in invitations:
        accept_invitation(db, user.id, invitation)
