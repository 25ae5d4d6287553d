"""What applications do when users change."""

from sqlalchemy import bindparam, select, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.oauth.tables import oauth_applications, oauth_tokens
from ingot.users.accounts.events import UserDeleting
from ingot.users.tokens.tables import access_tokens

subscriptions = Subscriptions()
_HELD_BY_OWN = (
    select(oauth_tokens.c.access_token_id)
    .join(oauth_applications, oauth_applications.c.id == oauth_tokens.c.application_id)
    .where(oauth_applications.c.owner_id == bindparam("owner"))
)
_REVOKE_HELD_BY_OWN = update(access_tokens).where(access_tokens.c.id.in_(_HELD_BY_OWN)).values(revoked=True)


@subscriptions.on(UserDeleting)
def take_back_tokens(db: Connection, event: UserDeleting) -> None:
    """The applications of whoever goes end with them, and so does what they hold of others."""
    db.run(_REVOKE_HELD_BY_OWN, owner=event.user_id)
