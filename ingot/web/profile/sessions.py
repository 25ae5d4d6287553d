"""Active sessions, sign-in log and account deletion of the current user."""

from functools import partial

from ingot.accounts.sessions.service import SIGN_IN_LOG_DAYS, end_own_session, end_sessions
from ingot.accounts.sessions.views import active_sessions, sign_in_log
from ingot.accounts.users.service import delete_user
from ingot.accounts.users.views import current_user
from ingot.core.api.params import number_or_none, path_number
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.profile.account import account_page, may_delete_account
from ingot.web.profile.two_factor import code_error, needs_code, password_error
from ingot.web.profile.user_agents import describe_user_agent

pages = PageRoutes()
PAGE_PATH = "/profile/active_sessions"


@pages.get("/profile/active_sessions")
def show_sessions(visit: Visit, db: Connection) -> PageResponse:
    """List the active sessions."""
    sessions = active_sessions(db, visit.viewer.signed_in.id)
    browsers = {session.id: describe_user_agent(session.user_agent) for session in sessions}
    context = {"tab": "sessions", "sessions": sessions, "browsers": browsers}
    return TemplateResponse("profile/sessions.html", context)


@pages.delete("/profile/active_sessions/:id", notice="Session ended.")
def end_other_session(visit: Visit) -> PageResponse:
    """Revoke another session."""
    visit.database.write(
        lambda db: end_own_session(db, visit.viewer.signed_in.id, path_number(visit.request.path, "id"))
    )
    return LocalRedirect(PAGE_PATH)


@pages.delete("/profile/active_sessions", notice="Other sessions ended.")
def end_other_sessions(visit: Visit) -> PageResponse:
    """Revoke all other sessions."""
    session_id = visit.viewer.session.id if visit.viewer.session else 0
    visit.database.write(lambda db: end_sessions(db, visit.viewer.signed_in.id, but=session_id))
    return LocalRedirect(PAGE_PATH)


@pages.get("/profile/audit_log")
def show_sign_ins(visit: Visit, db: Connection) -> PageResponse:
    """List successful and failed sign-ins."""
    number = max(1, min(number_or_none(str(visit.request.query.get("page", ""))) or 1, 10_000))
    listing = sign_in_log(db, visit.viewer.signed_in.id, number)
    return TemplateResponse("profile/sign_ins.html", {"tab": "audit", "listing": listing, "days": SIGN_IN_LOG_DAYS})


@pages.delete("/users", notice="Your account has been deleted.")
def delete_own_account(visit: Visit) -> PageResponse:
    """Delete the user's own account, confirmed by the username and the password (or a two-factor code)."""
    user = visit.viewer.signed_in
    password, username = visit.request.form.get("password"), visit.request.form.get("username")
    errors = [password_error(visit, password if isinstance(password, str) else "")]
    if username != user.username:
        errors.append("Enter your username to confirm the deletion.")
    elif needs_code(visit):
        errors.append(code_error(visit))
    if not visit.database.read(partial(may_delete_account, visit)):
        errors.append("Only administrators can delete accounts.")

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        delete_user(db, current_user(db, visit.viewer.actor), hard=False)

    reasons = [error for error in errors if error]
    if not reasons:
        try:
            visit.database.write(work)
        except REQUEST_ERRORS as error:
            reasons = error_messages(error)
    if reasons:
        return visit.database.read(lambda db: account_page(visit, db, {"account": reasons}))
    return LocalRedirect("/users/sign_in", [set_cookie(visit.settings, SESSION_COOKIE, "", ends=True)])
