"""What becomes of histories when users go."""

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
    """What happened stays so, in the name of the placeholder, unless all that somebody did is to go."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
