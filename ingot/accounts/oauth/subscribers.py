"""Subscribers of OAuth applications to events of users."""

from sqlalchemy import bindparam, select, update

from ingot.accounts.oauth.tables import oauth_applications, oauth_tokens
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_TOKENS_OF_OWN_APPLICATIONS = (
    select(oauth_tokens.c.access_token_id)
    .join(oauth_applications, oauth_applications.c.id == oauth_tokens.c.application_id)
    .where(oauth_applications.c.owner_id == bindparam("owner"))
)
_REVOKE_TOKENS_OF_OWN_APPLICATIONS = (
    update(access_tokens).where(access_tokens.c.id.in_(_TOKENS_OF_OWN_APPLICATIONS)).values(revoked=True)
)


@subscriptions.on(UserDeleting)
def revoke_tokens_of_deleted_user(db: Connection, event: UserDeleting) -> None:
    """Revoke the tokens that the deleted user's applications hold for other users."""
    db.run(_REVOKE_TOKENS_OF_OWN_APPLICATIONS, owner=event.user_id)
