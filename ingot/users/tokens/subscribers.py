"""What tokens do when users change."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.users.accounts.events import UserCreated
from ingot.users.tokens.service import reset_private_token

subscriptions = Subscriptions()


@subscriptions.on(UserCreated)
def give_private_token(db: Connection, event: UserCreated) -> None:
    """Every user has a private token from the start."""
    reset_private_token(db, event.user_id)
