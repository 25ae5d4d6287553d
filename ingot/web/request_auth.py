"""Who asks for a page that browsers and programs use alike."""

from ingot.accounts.authentication import authenticate
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.access.scopes import READ_SCOPES, has_any_scope
from ingot.core.db.connection import Connection
from ingot.web.page_routes import Visit


def authenticated_caller(visit: Visit, db: Connection) -> Actor:
    """A token counts before the session, and must reach what the API would show."""
    if visit.credentials.token is None:
        return visit.actor_or_anonymous
    actor = authenticate(db, visit.credentials)
    require(has_any_scope(actor, READ_SCOPES))
    return actor
