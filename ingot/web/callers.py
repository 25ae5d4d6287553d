"""Who asks for a page that browsers and programs use alike."""

from ingot.access.actor import Actor
from ingot.access.rules import require
from ingot.access.scopes import READING, within_scope
from ingot.db.connection import Connection
from ingot.users.authentication import authenticate
from ingot.web.pages import Visit


def caller_of(visit: Visit, db: Connection) -> Actor:
    """A token counts before the session, and must reach what the API would show."""
    if visit.credentials.token is None:
        return visit.actor_or_nobody
    actor = authenticate(db, visit.credentials)
    require(within_scope(actor, READING))
    return actor
