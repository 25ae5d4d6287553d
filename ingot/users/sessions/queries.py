"""How sessions and one-time links are found."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.users.accounts.queries import find_user
from ingot.users.accounts.tables import User
from ingot.users.sessions.tables import OneTimeLink, Purpose, Session, one_time_links, sessions

_BY_DIGEST = select(sessions).where(sessions.c.digest == bindparam("digest"))
_LINK = select(one_time_links).where(one_time_links.c.digest == bindparam("digest"))


def session_or_none(db: Connection, cookie: str) -> tuple[Session, User] | None:
    """The session that a cookie names, unless it ended or its user may not act."""
    session = db.first(Session, _BY_DIGEST, digest=db.vault.digest(cookie))
    if session is None or session.expires_at <= db.now:
        return None
    user = find_user(db, session.user_id)
    return (session, user) if user.state == "active" else None


def csrf_token(db: Connection, session: Session) -> str:
    """What a form must send back to prove that we made it."""
    return db.vault.derive("csrf", session.digest)


def link_or_none(db: Connection, purpose: Purpose, token: str) -> OneTimeLink | None:
    """The link that a mail held, unless it was used or is too old."""
    link = db.first(OneTimeLink, _LINK, digest=db.vault.digest(token))
    return link if link is not None and link.purpose == purpose and link.expires_at > db.now else None
