"""Signing in and out."""

from ingot.access.passwords import SHORTEST
from ingot.db.connection import Connection
from ingot.errors import Unauthenticated
from ingot.instance.settings import current_settings
from ingot.users.sessions.service import begin_session, check_password, end_session
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.oauth.authorize import policy_of_sign_in
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part, local_path

pages = Pages()
HOME = "/"


@pages.get("/users/sign_in", open=True)
def show_sign_in(visit: Visit, db: Connection) -> Reply:
    """Ask for name and password."""
    back = local_path(visit.query.get("redirect_to"))
    if visit.user is not None:
        return Redirect(back or HOME)
    return Page("entry/sign_in.html", _context(db, back or "", ""), policy=policy_of_sign_in(back or ""))


@pages.post("/users/sign_in", open=True)
def sign_in(visit: Visit) -> Reply:
    """Begin a session, or say that name and password do not match, and nothing more."""
    login = form_part(visit.form, "user", "login")
    back = local_path(visit.form.get("redirect_to")) or ""
    try:
        user = check_password(visit.database, login, form_part(visit.form, "user", "password"), visit.origin.ip)
    except Unauthenticated:
        context = visit.database.read(lambda db: _context(db, back, login))
        context["error"] = "Invalid login or password."
        return Page("entry/sign_in.html", context, 401, policy_of_sign_in(back))
    origin = visit.origin
    cookie = visit.database.write(lambda db: begin_session(db, user, origin.ip, origin.user_agent))
    return Redirect(back or HOME, [set_cookie(visit.settings, SESSION_COOKIE, cookie)])


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


def _context(db: Connection, back: str, login: str) -> dict[str, object]:
    settings = current_settings(db)
    return {
        "back": back,
        "login": login,
        "error": "",
        "text": settings.sign_in_text or "",
        "shortest": SHORTEST,
        "open": settings.signup_enabled,
        "confirms": settings.send_user_confirmation_email,
    }
