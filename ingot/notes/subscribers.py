"""What becomes of notes when users go."""

from sqlalchemy import bindparam, delete, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.notes.tables import notes
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = update(notes).where(notes.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))
_REMOVE = delete(notes).where(notes.c.author_id == bindparam("user"))


@subscriptions.on(UserDeleting)
def hand_over_notes(db: Connection, event: UserDeleting) -> None:
    """What somebody wrote stays in the name of the placeholder, or goes with them where nothing is to stay."""
    if event.hard:
        db.run(_REMOVE, user=event.user_id)
    else:
        db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
