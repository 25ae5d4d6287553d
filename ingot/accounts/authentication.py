"""Authentication: the only place where a credential becomes an actor."""

import hmac

from ingot.accounts.instance.access_settings import TermsNotAccepted, access_settings
from ingot.accounts.sessions.policy import has_admin_rights
from ingot.accounts.sessions.queries import csrf_token, session_or_none
from ingot.accounts.tokens.queries import token_holder_or_none
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.queries import user_by_username_or_none, user_or_none
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, NotFound, Unauthenticated


def authenticate(db: Connection, credentials: Credentials) -> Actor:
    """Return the caller; raise Unauthenticated for an invalid credential even where none is required."""
    if credentials.token is not None:
        actor = _authenticate_token(db, credentials.token)
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
    if holder.terms_due:
        raise TermsNotAccepted
    return Actor(
        user_id=holder.user_id,
        username=holder.username,
        name=holder.name,
        admin=holder.admin,
        external=holder.external,
        via=holder.kind,
        scopes=None if holder.kind == "private" else frozenset(holder.scopes.split()),
        token_id=holder.token_id,
        bot=holder.bot,
        restrictions=holder.restrictions,
    )


def _authenticate_session(db: Connection, credentials: Credentials) -> Actor:
    """Return the user of a session cookie.

    An expired cookie counts as no cookie. A write without the session's CSRF token may be forged by another site, so it
    is anonymous as well.
    """
    session_and_user = session_or_none(db, credentials.session or "")
    if session_and_user is None:
        return ANONYMOUS
    session, user = session_and_user
    if credentials.writes and not hmac.compare_digest(
        (credentials.csrf or "").encode("utf-8", "replace"), csrf_token(db, session).encode()
    ):
        return ANONYMOUS
    if user.password_expired or is_second_factor_due(db, user):
        return ANONYMOUS
    settings = access_settings(db)
    if settings.requires_acceptance(user.terms_accepted_at):
        raise TermsNotAccepted
    return Actor(
        user_id=user.id,
        username=user.username,
        name=user.name,
        admin=user.admin and has_admin_rights(settings, session, db.now),
        external=user.external,
        via="session",
        bot=user.bot,
    )


def _sudo(db: Connection, actor: Actor, name: str) -> Actor:
    """Return the user as whom an administrator acts.

    Requires the private token, or a personal or OAuth token with the scope ``sudo``.
    """
    if not actor.known:
        return actor
    if not actor.admin:
        raise Denied("Must be admin to use sudo")
    if actor.via != "private" and not (actor.via in ("personal", "oauth") and "sudo" in (actor.scopes or ())):
        raise Denied("Private token must be specified in order to use sudo")
    # PostgreSQL rejects NUL in text; no username contains it.
    login = name.replace("\0", " ")
    user = user_or_none(db, login) if login.isdigit() else user_by_username_or_none(db, login)
    if user is None:
        raise NotFound(message=f"404 Not Found: No user id or username for: {name}")
    if user.state != "active" or user.placeholder:
        raise Denied("The user to impersonate is blocked")
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
        bot=user.bot,
        restrictions=actor.restrictions,
    )
