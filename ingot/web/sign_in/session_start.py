"""Creation of a session after the first factor, with the two-factor step if required."""

import msgspec

from ingot.accounts.sessions.policy import may_sign_in
from ingot.accounts.sessions.service import REMEMBERED_DAYS, create_session, end_session
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.times import to_datetime
from ingot.core.errors import Unauthenticated
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.oauth.authorize import sign_in_policy
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit
from ingot.web.passkeys import check_passkey, second_factor_prompt
from ingot.web.second_factor import check_second_factor
from ingot.web.sign_in.admin_mode import is_administration
from ingot.web.sign_in.device_cookie import device_cookie

HOME = "/"
TWO_FACTOR_MINUTES = 10
_PURPOSE = "two-factor sign-in"


class PendingSignIn(msgspec.Struct):
    """Sign-in that awaits the second factor; signed, stored in the browser and bound to its CSRF token."""

    user_id: int
    method: str
    csrf: str
    expires_at: float
    remembered: bool = False


def start_session(
    visit: Visit, user: User, back: str, method: str = "password", *, remembered: bool = False
) -> PageResponse:
    """Start a session, or ask for the second factor first."""
    if user.two_factor_enabled:
        expires_at = _now(visit) + 60 * TWO_FACTOR_MINUTES
        pending = PendingSignIn(user.id, method, visit.viewer.csrf, expires_at, remembered)
        return _two_factor_page(visit, pending, back, "")
    return begin_session(visit, user, back, method, remembered=remembered)


def start_session_with_code(visit: Visit, signed: str, code: str, back: str) -> PageResponse:
    """Start a session after the second factor; raise ``Unauthenticated`` if the first step expired or is invalid."""
    pending, user = _first_step(visit, signed)
    if not check_second_factor(visit, user, code):
        return _two_factor_page(visit, pending, back, "Invalid two-factor code.")
    return begin_session(visit, user, back, f"{pending.method} and two-factor", remembered=pending.remembered)


def start_session_with_passkey(visit: Visit, signed: str, back: str) -> PageResponse:
    """Start a session after a passkey as second factor; raise ``Unauthenticated`` if the first step is not valid."""
    pending, user = _first_step(visit, signed)
    try:
        check_passkey(visit, second_step_of=user)
    except Unauthenticated:
        return _two_factor_page(visit, pending, back, "The passkey was not accepted. Try again.")
    return begin_session(visit, user, back, f"{pending.method} and passkey", remembered=pending.remembered)


def _first_step(visit: Visit, signed: str) -> tuple[PendingSignIn, User]:
    """Return the pending sign-in and its user; raise ``Unauthenticated`` if either is not valid."""
    pending = verify_signed(visit.database.vault, _PURPOSE, signed, PendingSignIn)
    if pending is None or pending.csrf != visit.viewer.csrf or pending.expires_at < _now(visit):
        raise Unauthenticated
    user_id = pending.user_id

    def find(db: Connection) -> User:
        user = user_or_none(db, user_id)
        if user is None or not may_sign_in(user, confirmed=has_access_without_confirmation(db, user)):
            raise Unauthenticated
        return user

    return pending, visit.database.read(find)


def begin_session(visit: Visit, user: User, back: str, method: str, *, remembered: bool = False) -> PageResponse:
    """Start a session for a user who has proven their identity with all factors.

    The browser keeps the cookie of a remembered one when it is closed. A sign-in that leads to an administration page
    begins the admin mode.
    """
    origin, before = visit.request.origin, visit.viewer.session

    def begin(db: Connection) -> str:
        if before is not None:
            end_session(db, before)  # Its cookie is replaced; the old session must not remain valid.
        return create_session(
            db,
            user,
            origin.ip,
            origin.user_agent,
            method,
            remembered=remembered,
            for_administration=is_administration(back),
        )

    cookie = visit.database.write(begin)
    max_age = REMEMBERED_DAYS * 24 * 3600 if remembered else None
    return LocalRedirect(
        back or HOME,
        [set_cookie(visit.settings, SESSION_COOKIE, cookie, max_age=max_age), device_cookie(visit, user.id)],
    )


def _two_factor_page(visit: Visit, pending: PendingSignIn, back: str, error: str) -> TemplateResponse:
    signed = sign_value(visit.database.vault, _PURPOSE, pending)
    passkey = second_factor_prompt(visit, pending.user_id)
    context = {"back": back, "error": error, "pending_sign_in": signed, "passkey": passkey}
    return TemplateResponse("sign_in/two_factor.html", context, 401 if error else 200, sign_in_policy(back))


def _now(visit: Visit) -> float:
    return to_datetime(visit.database.clock()).timestamp()
