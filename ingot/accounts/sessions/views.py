"""Sessions and sign-ins of a user, as their owner sees them."""

from ingot.accounts.sessions.queries import list_sign_ins, sessions_of_user
from ingot.accounts.sessions.tables import Session, SignInAttempt
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page


def active_sessions(db: Connection, user_id: int) -> list[Session]:
    """Return where a user is signed in, the newest first."""
    return sessions_of_user(db, user_id)


def sign_in_log(db: Connection, user_id: int, page: int) -> Listing[SignInAttempt]:
    """List the attempts to sign in to a user's account, the newest first."""
    return list_sign_ins(db, user_id, Page(number=page, size=50))
