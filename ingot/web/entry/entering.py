"""From somebody who proved who they are to a session: at once, or after a second step."""

import msgspec

from ingot.db.connection import Connection
from ingot.db.times import moment
from ingot.errors import Unauthenticated
from ingot.users.accounts.queries import user_or_none
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import begin_session, end_session
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.oauth.authorize import policy_of_sign_in
from ingot.web.pages import Page, Redirect, Reply, Visit
from ingot.web.second_factor import holds_second_factor
from ingot.web.signed import read_signed, signed

HOME = "/"
MINUTES = 10
_PURPOSE = "second step"


class Waiting(msgspec.Struct):
    """Who has done the first step: kept by the browser, signed, and of no use in another one."""

    user_id: int
    method: str
    csrf: str
    until: float


def enter(visit: Visit, user: User, back: str, method: str = "password") -> Reply:
    """Begin a session, or ask for the second factor first."""
    if user.two_factor_enabled:
        until = _now(visit) + 60 * MINUTES
        return _second_step(visit, Waiting(user.id, method, visit.csrf, until), back, "")
    return _begin(visit, user, back, method)


def enter_by_second_step(visit: Visit, kept: str, code: str, back: str) -> Reply:
    """Begin a session for whoever did the first step in this browser, and brings the right code now."""
    waiting = read_signed(visit.database.vault, _PURPOSE, kept, Waiting)
    if waiting is None or waiting.csrf != visit.csrf or waiting.until < _now(visit):
        raise Unauthenticated
    first, user_id = waiting, waiting.user_id
    user = visit.database.read(lambda db: user_or_none(db, user_id))
    if user is None or user.state != "active":
        raise Unauthenticated
    if not holds_second_factor(visit, user, code):
        return _second_step(visit, first, back, "Invalid two-factor code.")
    return _begin(visit, user, back, f"{first.method} and two-factor")


def _begin(visit: Visit, user: User, back: str, method: str) -> Reply:
    origin, before = visit.origin, visit.session

    def begin(db: Connection) -> str:
        if before is not None:
            end_session(db, before)  # The browser forgets its cookie, and nobody else is to have it.
        return begin_session(db, user, origin.ip, origin.user_agent, method)

    cookie = visit.database.write(begin)
    return Redirect(back or HOME, [set_cookie(visit.settings, SESSION_COOKIE, cookie)])


def _second_step(visit: Visit, waiting: Waiting, back: str, error: str) -> Page:
    kept = signed(visit.database.vault, _PURPOSE, waiting)
    context = {"back": back, "error": error, "waiting": kept}
    return Page("entry/second_step.html", context, 401 if error else 200, policy_of_sign_in(back))


def _now(visit: Visit) -> float:
    return moment(visit.database.clock()).timestamp()
