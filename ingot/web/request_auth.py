"""Authentication for pages that both browsers and API clients use."""

from ingot.accounts.authentication import authenticate
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.access.scopes import READ_SCOPES, has_any_scope
from ingot.core.db.connection import Connection
from ingot.web.client import PageClient
from ingot.web.page_routes import Visit


def client_of(visit: Visit, db: Connection) -> PageClient:
    """Return the internal client that calls endpoints as the caller, authenticated by token or session."""
    return visit.client._replace(caller=visit.client.caller._replace(actor=authenticated_caller(visit, db)))


def authenticated_caller(visit: Visit, db: Connection) -> Actor:
    """Return the caller; a token takes precedence over the session and must have a scope that can read the API."""
    if visit.headers.credentials.token is None:
        return visit.viewer.actor
    actor = authenticate(db, visit.headers.credentials)
    require(has_any_scope(actor, READ_SCOPES))
    return actor
