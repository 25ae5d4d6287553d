"""Sign-in and sign-out."""

from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.settings import current_settings
from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.accounts.sessions.service import end_session
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.errors import Unauthenticated
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.oauth.authorize import sign_in_policy
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    local_path,
)
from ingot.web.passkeys import sign_in_prompt
from ingot.web.sign_in.device_cookie import known_device
from ingot.web.sign_in.session_start import HOME, start_session, start_session_with_code
from ingot.web.sign_in.single_sign_on import sign_on_url
from ingot.web.texts import render_markdown

pages = PageRoutes()


@pages.get("/users/sign_in", open=True)
def show_sign_in(visit: Visit, db: Connection) -> PageResponse:
    """Show the sign-in form."""
    back = local_path(visit.request.query.get("redirect_to"))
    if visit.viewer.user is not None and "again" not in visit.request.query:
        return LocalRedirect(back or HOME)
    return sign_in_page(visit, db, back or "")


@pages.post("/users/sign_in", open=True)
def sign_in(visit: Visit) -> PageResponse:
    """Start a session, or report invalid credentials without revealing which part was wrong."""
    back = local_path(visit.request.form.get("redirect_to")) or ""
    pending = form_field(visit.request.form, "user", "pending_sign_in")
    try:
        if pending:
            return start_session_with_code(visit, pending, form_field(visit.request.form, "user", "otp_attempt"), back)
        remembered = form_field(visit.request.form, "user", "remember_me") == "1"
        remembered = remembered and visit.database.read(cached_all_settings).remember_me_enabled
        return start_session(visit, _user_by_password(visit), back, remembered=remembered)
    except Unauthenticated as refusal:
        login = form_field(visit.request.form, "user", "login")
        error = "The sign-in has expired. Sign in again." if pending else refusal.reason or "Invalid login or password."
        return visit.database.read(lambda db: sign_in_page(visit, db, back, login, error))


def _user_by_password(visit: Visit) -> User:
    login, password = (form_field(visit.request.form, "user", name) for name in ("login", "password"))
    origin = visit.request.origin
    attempt = PasswordAttempt("pages", login, password, origin.ip, origin.user_agent, known_device(visit))
    return check_password(visit.database, visit.settings, attempt)


@pages.post("/users/sign_out", with_expired_password=True)
def sign_out(visit: Visit) -> PageResponse:
    """End the session."""
    session = visit.viewer.session
    assert session is not None  # noqa: S101 - The page requires a session.

    def end(db: Connection) -> str | None:
        end_session(db, session)
        return current_settings(db).after_sign_out_path

    after = visit.database.write(end)
    return LocalRedirect(
        local_path(after) or "/users/sign_in", [set_cookie(visit.settings, SESSION_COOKIE, "", ends=True)]
    )


@pages.delete("/users/sign_out", with_expired_password=True)
def sign_out_by_delete(visit: Visit) -> PageResponse:
    """End the session."""
    return sign_out(visit)


def sign_in_page(visit: Visit, db: Connection, back: str, login: str = "", error: str = "") -> TemplateResponse:
    """Render the sign-in form, with status 401 after an error."""
    settings = current_settings(db)
    context = {
        "back": back,
        "login": login,
        "error": error,
        "passkey": sign_in_prompt(visit),
        "sign_on_url": sign_on_url(visit, settings, back),
        "label": visit.settings.oidc_label,
        "text": settings.sign_in_text or "",
        "description": render_markdown(visit, current_appearance(db).description),
        "open": settings.signup_enabled,
        "may_remember": cached_all_settings(db).remember_me_enabled,
        "confirms": settings.send_user_confirmation_email,
    }
    return TemplateResponse("sign_in/sign_in.html", context, 401 if error else 200, sign_in_policy(back))
