"""Turning the second factor on and off."""

import io

from markupsafe import Markup

from ingot.access.passwords import password_matches
from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.inline import expect_a_wait
from ingot.instance.throttles import count_try, refuse_beyond
from ingot.users.accounts.queries import find_user
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import FAILURE_WINDOW_SECONDS, MOST_FAILURES_OF_ACCOUNT, end_sessions
from ingot.users.two_factor.queries import recovery_codes_left
from ingot.users.two_factor.service import disable_factor, enable_factor, make_recovery_codes, propose_factor
from ingot.users.two_factor.totp import address_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.refusals import sentences
from ingot.web.second_factor import holds_second_factor

pages = Pages()
HERE = "/profile/two_factor_auth"


@pages.get("/profile/two_factor_auth")
def show_factor(visit: Visit, db: Connection) -> Reply:
    """Show the QR code to begin with, or how many recovery codes are left."""
    return _page(visit, db)


@pages.post("/profile/two_factor_auth")
def enable(visit: Visit) -> Reply:
    """Turn it on with a first code of the app; the recovery codes are shown once, and other sessions end."""
    user, session = visit.signed_in, visit.session
    trouble = _password_trouble(visit)
    if trouble:
        return visit.database.read(lambda db: _page(visit, db, [trouble]))

    def work(db: Connection) -> list[str]:
        codes = enable_factor(db, find_user(db, user.id), "".join(_text(visit, "pin_code").split()))
        end_sessions(db, user.id, but=session.id if session else 0)
        return codes

    try:
        codes = visit.database.write(work)
    except Invalid as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _page(visit, db, errors))
    return Page("profile/recovery_codes.html", {"tab": "two_factor", "codes": codes})


@pages.post("/profile/two_factor_auth/codes")
def renew_codes(visit: Visit) -> Reply:
    """Make new recovery codes, and show them once."""
    trouble = _proof_trouble(visit) if visit.signed_in.two_factor_enabled else "It is not on."
    if trouble:
        return visit.database.read(lambda db: _page(visit, db, [trouble]))
    codes = visit.database.write(lambda db: make_recovery_codes(db, visit.signed_in))
    return Page("profile/recovery_codes.html", {"tab": "two_factor", "codes": codes})


@pages.delete("/profile/two_factor_auth")
def disable(visit: Visit) -> Reply:
    """Turn it off, for whoever still knows the password, or holds the factor where there is none."""
    trouble = _proof_trouble(visit)
    if trouble:
        return visit.database.read(lambda db: _page(visit, db, [trouble]))
    visit.database.write(lambda db: disable_factor(db, visit.signed_in))
    return Redirect(HERE)


def _password_trouble(visit: Visit) -> str:
    """Why the password is not enough; who signs in elsewhere has none to show."""
    return wrong_password(visit, visit.signed_in, _text(visit, "current_password"))


def _proof_trouble(visit: Visit) -> str:
    """Why nothing changes: an open session alone must not take the second factor away."""
    if needs_code(visit.signed_in):
        return wrong_code(visit)
    return _password_trouble(visit)


def needs_code(user: User) -> bool:
    """Whether somebody has no password to show again, but a second factor."""
    return user.password_hash is None and user.two_factor_enabled


def wrong_code(visit: Visit) -> str:
    """What is wrong with the code that a form brings; nothing where it is right, and it is used up then."""
    return "" if holds_second_factor(visit, visit.signed_in, _text(visit, "otp_attempt")) else "The code is not right."


def wrong_password(visit: Visit, user: User, password: str) -> str:
    """What is wrong with the password that somebody who is signed in shows again; nothing where it is right."""
    if user.password_hash is None:
        return ""
    key = f"password of {user.id}"
    visit.database.read(lambda db: refuse_beyond(db, key, MOST_FAILURES_OF_ACCOUNT, FAILURE_WINDOW_SECONDS))
    if password_matches(user.password_hash, password):
        return ""
    visit.database.write(lambda db: count_try(db, key, FAILURE_WINDOW_SECONDS))
    return "The current password is not right."


def _text(visit: Visit, name: str) -> str:
    value = visit.form.get(name)
    return value if isinstance(value, str) else ""


def _page(visit: Visit, db: Connection, errors: list[str] | None = None) -> Page:
    user = find_user(db, visit.signed_in.id)
    context = {"tab": "two_factor", "errors": errors or [], "needs_password": user.password_hash is not None}
    status = 422 if errors else 200
    if user.two_factor_enabled:
        context["left"] = recovery_codes_left(db, user.id)
        return Page("profile/two_factor_on.html", context, status)
    # The first visit writes the secret down, so that the code that is typed belongs to the picture that was shown.
    expect_a_wait()
    secret = visit.database.write(lambda db: propose_factor(db, user))
    issuer = f"Ingot {visit.origin.base.partition('://')[2]}"
    context |= {"secret": secret, "picture": _picture(address_of(secret, issuer, user.username))}
    return Page("profile/two_factor_off.html", context, status)


def _picture(text: str) -> Markup:
    """A QR code as a part of the page; no script, no style and no other request."""
    import segno

    drawn = io.BytesIO()
    segno.make(text, error="m").save(drawn, kind="svg", xmldecl=False, svgns=False, scale=5, border=3, light="#ffffff")
    return Markup(drawn.getvalue().decode())  # noqa: S704 - The library draws squares and writes no text into it.
