"""Queries of sessions, sign-in attempts and one-time links."""

from sqlalchemy import bindparam, select

from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.sessions.ports import SessionExtension
from ingot.accounts.sessions.tables import (
    OneTimeLink,
    Purpose,
    Session,
    SignInAttempt,
    one_time_links,
    sessions,
    sign_ins,
)
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query

_BY_DIGEST = select(sessions).where(sessions.c.digest == bindparam("digest"))
_OF_USER = (
    select(sessions)
    .where(sessions.c.user_id == bindparam("user"), sessions.c.expires_at > bindparam("now"))
    .order_by(sessions.c.id.desc())
    .limit(200)
)
_SIGN_INS = list_query(
    select(sign_ins).where(sign_ins.c.user_id == bindparam("user")), sign_ins.c.id, sign_ins.c.id.desc()
)
_SESSION_BYTES = 4_000
_LINK = select(one_time_links).where(one_time_links.c.digest == bindparam("digest"))


def session_or_none(db: Connection, cookie: str) -> tuple[Session, User] | None:
    """Return the session of a cookie and its user, unless it has expired or the user may not use it."""
    digest = db.vault.digest(cookie)
    session_and_user = db.cached(
        ("session", digest),
        lambda: _session_by_digest(db, digest),
        lambda _: _SESSION_BYTES,
        lambda found: {"sessions": found[0].id, "users": found[1].id},
    )
    if session_and_user is None:
        return None
    session, user = session_and_user
    if session.expires_at <= db.now or user.state != "active" or not has_access_without_confirmation(db, user):
        return None
    settings = access_settings(db)
    if not settings.session_expire_from_init:
        db.ports[SessionExtension].extend(session, settings.session_expire_delay, db.now)
    return session_and_user


def _session_by_digest(db: Connection, digest: bytes) -> tuple[Session, User] | None:
    session = db.first(Session, _BY_DIGEST, digest=digest)
    return (session, find_user(db, session.user_id)) if session is not None else None


def sessions_of_user(db: Connection, user_id: int) -> list[Session]:
    """List the current sessions of a user, the newest first."""
    return db.all(Session, _OF_USER, user=user_id, now=db.now)


def list_sign_ins(db: Connection, user_id: int, page: Page) -> Listing[SignInAttempt]:
    """List the attempts to sign in to a user's account, the newest first."""
    return fetch_page(db, SignInAttempt, _SIGN_INS, page, user=user_id)


def csrf_token(db: Connection, session: Session) -> str:
    """Return the CSRF token of a session, which forms must send back."""
    return db.vault.derive("csrf", session.digest)


def one_time_link_or_none(db: Connection, purpose: Purpose, token: str) -> OneTimeLink | None:
    """Return the link with this token, unless it was used or has expired."""
    link = db.first(OneTimeLink, _LINK, digest=db.vault.digest(token))
    return link if link is not None and link.purpose == purpose and link.expires_at > db.now else None
