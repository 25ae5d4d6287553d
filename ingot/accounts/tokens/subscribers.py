"""Subscribers of tokens to events of users."""

from ingot.accounts.tokens.service import reset_private_token
from ingot.accounts.users.events import UserCreated
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()


@subscriptions.on(UserCreated)
def create_private_token(db: Connection, event: UserCreated) -> None:
    """Create the private token of a new user; bots have only the tokens that are created for them."""
    if not event.bot:
        reset_private_token(db, event.user_id)
