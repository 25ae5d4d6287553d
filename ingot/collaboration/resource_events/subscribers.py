"""Subscriber that handles the resource events of deleted users."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.resource_events.tables import resource_events
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_REASSIGN = (
    update(resource_events)
    .where(resource_events.c.user_id == bindparam("user"))
    .values(user_id=bindparam("placeholder"))
)


@subscriptions.on(UserDeleting)
def reassign_resource_events(db: Connection, event: UserDeleting) -> None:
    """Transfer the resource events of a deleted user to the placeholder user, except on a hard delete."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
