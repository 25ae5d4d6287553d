"""Signing in and out."""

from ingot.access.passwords import SHORTEST
from ingot.db.connection import Connection
from ingot.errors import Unauthenticated
from ingot.instance.settings import current_settings
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import check_password, end_session
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.entry.elsewhere import address_of_provider
from ingot.web.entry.entering import HOME, enter, enter_by_second_step
from ingot.web.oauth.authorize import policy_of_sign_in
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part, local_path

pages = Pages()


@pages.get("/users/sign_in", open=True)
def show_sign_in(visit: Visit, db: Connection) -> Reply:
    """Ask for name and password."""
    back = local_path(visit.query.get("redirect_to"))
    if visit.user is not None and "again" not in visit.query:
        return Redirect(back or HOME)
    return Page("entry/sign_in.html", _context(visit, db, back or "", ""), policy=policy_of_sign_in(back or ""))


@pages.post("/users/sign_in", open=True)
def sign_in(visit: Visit) -> Reply:
    """Begin a session, or say that name and password do not match, and nothing more."""
    back = local_path(visit.form.get("redirect_to")) or ""
    waiting = form_part(visit.form, "user", "waiting")
    try:
        if waiting:
            return enter_by_second_step(visit, waiting, form_part(visit.form, "user", "otp_attempt"), back)
        return enter(visit, _by_password(visit), back)
    except Unauthenticated:
        context = visit.database.read(lambda db: _context(visit, db, back, form_part(visit.form, "user", "login")))
        context["error"] = "Sign in again: that took too long." if waiting else "Invalid login or password."
        return Page("entry/sign_in.html", context, 401, policy_of_sign_in(back))


def _by_password(visit: Visit) -> User:
    login, password = form_part(visit.form, "user", "login"), form_part(visit.form, "user", "password")
    return check_password(visit.database, login, password, visit.origin.ip, visit.origin.user_agent, visit.settings)


@pages.post("/users/sign_out", with_expired_password=True)
def sign_out(visit: Visit) -> Reply:
    """End the session."""
    session = visit.session
    assert session is not None  # noqa: S101 - Nobody without one comes here.

    def end(db: Connection) -> str | None:
        end_session(db, session)
        return current_settings(db).after_sign_out_path

    after = visit.database.write(end)
    return Redirect(local_path(after) or "/users/sign_in", [set_cookie(visit.settings, SESSION_COOKIE, "", ends=True)])


@pages.delete("/users/sign_out", with_expired_password=True)
def sign_out_by_method(visit: Visit) -> Reply:
    """End the session."""
    return sign_out(visit)


def _context(visit: Visit, db: Connection, back: str, login: str) -> dict[str, object]:
    settings = current_settings(db)
    return {
        "back": back,
        "login": login,
        "error": "",
        "elsewhere": address_of_provider(visit, settings, back),
        "label": visit.settings.oidc_label,
        "text": settings.sign_in_text or "",
        "shortest": SHORTEST,
        "open": settings.signup_enabled,
        "confirms": settings.send_user_confirmation_email,
    }
