"""Creation of a session after the first factor, with the two-factor step if required."""

import msgspec

from ingot.accounts.sessions.service import create_session, end_session
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.errors import Unauthenticated
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.oauth.authorize import sign_in_policy
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit
from ingot.web.second_factor import check_second_factor
from ingot.web.sign_in.device_cookie import device_cookie
from ingot.web.signed_values import sign_value, verify_signed

HOME = "/"
SECOND_STEP_MINUTES = 10
_PURPOSE = "second step"


class PendingSignIn(msgspec.Struct):
    """Sign-in that awaits the second factor; signed, stored in the browser and bound to its CSRF token."""

    user_id: int
    method: str
    csrf: str
    until: float


def start_session(visit: Visit, user: User, back: str, method: str = "password") -> PageResponse:
    """Start a session, or ask for the second factor first."""
    if user.two_factor_enabled:
        until = _now(visit) + 60 * SECOND_STEP_MINUTES
        return _second_step(visit, PendingSignIn(user.id, method, visit.viewer.csrf, until), back, "")
    return _begin_session(visit, user, back, method)


def start_session_with_code(visit: Visit, kept: str, code: str, back: str) -> PageResponse:
    """Start a session after the second factor; raise ``Unauthenticated`` if the first step expired or is invalid."""
    waiting = verify_signed(visit.database.vault, _PURPOSE, kept, PendingSignIn)
    if waiting is None or waiting.csrf != visit.viewer.csrf or waiting.until < _now(visit):
        raise Unauthenticated
    first, user_id = waiting, waiting.user_id
    user = visit.database.read(lambda db: user_or_none(db, user_id))
    if user is None or user.state != "active":
        raise Unauthenticated
    if not check_second_factor(visit, user, code):
        return _second_step(visit, first, back, "Invalid two-factor code.")
    return _begin_session(visit, user, back, f"{first.method} and two-factor")


def _begin_session(visit: Visit, user: User, back: str, method: str) -> PageResponse:
    origin, before = visit.request.origin, visit.viewer.session

    def begin(db: Connection) -> str:
        if before is not None:
            end_session(db, before)  # Its cookie is replaced; the old session must not remain valid.
        return create_session(db, user, origin.ip, origin.user_agent, method)

    cookie = visit.database.write(begin)
    return LocalRedirect(
        back or HOME, [set_cookie(visit.settings, SESSION_COOKIE, cookie), device_cookie(visit, user.id)]
    )


def _second_step(visit: Visit, waiting: PendingSignIn, back: str, error: str) -> TemplateResponse:
    kept = sign_value(visit.database.vault, _PURPOSE, waiting)
    context = {"back": back, "error": error, "waiting": kept}
    return TemplateResponse("sign_in/second_step.html", context, 401 if error else 200, sign_in_policy(back))


def _now(visit: Visit) -> float:
    return to_datetime(visit.database.clock()).timestamp()
