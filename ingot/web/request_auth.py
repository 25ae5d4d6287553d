"""Authentication for pages that both browsers and API clients use."""

from msgspec.structs import replace

from ingot.accounts.authentication import authenticate
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.access.scopes import READ_SCOPES, has_any_scope
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.ip_restrictions import actor_at
from ingot.web.client import PageClient
from ingot.web.page_routes import Viewer, Visit


def client_of(visit: Visit, db: Connection) -> PageClient:
    """Return the internal client that calls endpoints as the caller, authenticated by token or session."""
    return visit.client._replace(caller=visit.client.caller._replace(actor=authenticated_caller(visit, db)))


def token_visit(visit: Visit, scopes: frozenset[str] = READ_SCOPES) -> Visit:
    """Return the visit as the user of its access token, without a session; the same visit without a token.

    Raise Unauthenticated for an invalid token, and Denied if it has none of the scopes.
    """
    if visit.headers.credentials.token is None:
        return visit
    actor = visit.database.read(lambda db: authenticated_caller(visit, db, scopes))
    client = visit.client._replace(caller=visit.client.caller._replace(actor=actor))
    return replace(visit, client=client, viewer=Viewer(actor, None, None, ""))


def authenticated_caller(visit: Visit, db: Connection, scopes: frozenset[str] = READ_SCOPES) -> Actor:
    """Return the caller; a token takes precedence over the session and must have a scope that can read the API."""
    if visit.headers.credentials.token is None:
        return visit.viewer.actor
    actor = actor_at(db, authenticate(db, visit.headers.credentials), visit.request.origin.ip)
    require(has_any_scope(actor, scopes))
    return actor
