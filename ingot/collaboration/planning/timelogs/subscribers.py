"""Reactions of timelogs to events."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.planning.timelogs.tables import timelogs
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_REASSIGN = update(timelogs).where(timelogs.c.user_id == bindparam("user")).values(user_id=bindparam("placeholder"))


@subscriptions.on(UserDeleting)
def reassign_timelogs(db: Connection, event: UserDeleting) -> None:
    """Transfer the timelogs of a deleted user to the placeholder user, except on a hard delete."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
