"""From a credential to an actor: the one place where somebody becomes known."""

import hmac

from ingot.accounts.sessions.queries import csrf_token, session_or_none
from ingot.accounts.tokens.queries import token_holder_or_none
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.queries import user_by_username_or_none, user_or_none
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.db.connection import Connection
from ingot.errors import Denied, NotFound, Unauthenticated


def authenticate(db: Connection, credentials: Credentials) -> Actor:
    """Who is calling; a credential that is not valid is refused even where none is needed."""
    if credentials.token is not None:
        actor = _authenticate_token(db, credentials.token)
    elif credentials.job_token is not None:
        # Nothing runs jobs yet, so no such token can be one of ours.
        raise Unauthenticated
    elif credentials.session is not None:
        actor = _authenticate_session(db, credentials)
    else:
        return ANONYMOUS
    return _sudo(db, actor, credentials.sudo) if credentials.sudo is not None else actor


def _authenticate_token(db: Connection, token: str) -> Actor:
    holder = token_holder_or_none(db, token)
    if (
        holder is None
        or holder.revoked
        or holder.state != "active"
        or (holder.expires_at is not None and holder.expires_at <= db.now)
    ):
        raise Unauthenticated
    return Actor(
        user_id=holder.user_id,
        username=holder.username,
        name=holder.name,
        admin=holder.admin,
        external=holder.external,
        via=holder.kind,
        scopes=None if holder.kind == "private" else frozenset(holder.scopes.split()),
        token_id=holder.token_id,
    )


def _authenticate_session(db: Connection, credentials: Credentials) -> Actor:
    """A stale cookie is as good as none; a write without its CSRF token may come from another site."""
    found = session_or_none(db, credentials.session or "")
    if found is None:
        return ANONYMOUS
    session, user = found
    if credentials.writes and not hmac.compare_digest(
        (credentials.csrf or "").encode("utf-8", "replace"), csrf_token(db, session).encode()
    ):
        return ANONYMOUS
    if user.password_expired or is_second_factor_due(db, user):
        return ANONYMOUS
    return Actor(
        user_id=user.id,
        username=user.username,
        name=user.name,
        admin=user.admin,
        external=user.external,
        via="session",
    )


def _sudo(db: Connection, actor: Actor, name: str) -> Actor:
    """Sudo: an administrator acts as somebody else, with a private token or one that has the scope for it."""
    if not actor.known:
        return actor
    if not actor.admin:
        raise Denied("Must be admin to use sudo")
    if actor.via != "private" and not (actor.via in ("personal", "oauth") and "sudo" in (actor.scopes or ())):
        raise Denied("Private token must be specified in order to use sudo")
    # PostgreSQL takes no NUL, and no name has one.
    named = name.replace("\0", " ")
    user = user_or_none(db, named) if named.isdigit() else user_by_username_or_none(db, named)
    if user is None:
        raise NotFound(message=f"404 Not Found: No user id or username for: {name}")
    if user.state != "active" or user.placeholder:
        raise Denied("The user to act as is blocked")
    return Actor(
        user_id=user.id,
        username=user.username,
        name=user.name,
        admin=user.admin,
        external=user.external,
        via=actor.via,
        scopes=actor.scopes,
        token_id=actor.token_id,
        sudo_by=actor.user_id,
    )
