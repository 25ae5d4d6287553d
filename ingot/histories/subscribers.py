"""What becomes of histories when users go."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.histories.tables import resource_events
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = (
    update(resource_events)
    .where(resource_events.c.user_id == bindparam("user"))
    .values(user_id=bindparam("placeholder"))
)


@subscriptions.on(UserDeleting)
def hand_over_histories(db: Connection, event: UserDeleting) -> None:
    """What happened stays so, in the name of the placeholder, unless all that somebody did is to go."""
    if not event.hard:
        db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
