"""Where a user is signed in, who tried to, and how an account ends."""

from ingot.api.params import number_or_none, path_number
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.names import NAMESPACES
from ingot.users.accounts.queries import find_user
from ingot.users.accounts.service import delete_user
from ingot.users.sessions.queries import list_sign_ins, sessions_of
from ingot.users.sessions.service import SIGN_IN_DAYS, end_own_session, end_sessions
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.profile.account import account_page
from ingot.web.profile.two_factor import needs_code, wrong_code, wrong_password
from ingot.web.refusals import Refusal, sentences

pages = Pages()
HERE = "/profile/active_sessions"


@pages.get("/profile/active_sessions")
def show_sessions(visit: Visit, db: Connection) -> Reply:
    """List where a user is signed in."""
    context = {"tab": "sessions", "sessions": sessions_of(db, visit.signed_in.id)}
    return Page("profile/sessions.html", context)


@pages.delete("/profile/active_sessions/:id")
def end_one(visit: Visit) -> Reply:
    """Sign out in another browser."""
    visit.database.write(lambda db: end_own_session(db, visit.signed_in.id, path_number(visit.path, "id")))
    return Redirect(HERE)


@pages.delete("/profile/active_sessions")
def end_others(visit: Visit) -> Reply:
    """Sign out in all other browsers."""
    kept = visit.session.id if visit.session else 0
    visit.database.write(lambda db: end_sessions(db, visit.signed_in.id, but=kept))
    return Redirect(HERE)


@pages.get("/profile/audit_log")
def show_sign_ins(visit: Visit, db: Connection) -> Reply:
    """List who signed in to the account, and who tried to."""
    number = max(1, min(number_or_none(str(visit.query.get("page", ""))) or 1, 10_000))
    listing = list_sign_ins(db, visit.signed_in.id, ListPage(number=number, size=50))
    return Page("profile/sign_ins.html", {"tab": "audit", "listing": listing, "days": SIGN_IN_DAYS})


@pages.delete("/users")
def end_account(visit: Visit) -> Reply:
    """Delete one's own account, with the password (else a code) and one's username as proof that it is meant."""
    user = visit.signed_in
    password, named = visit.form.get("password"), visit.form.get("username")
    errors = [wrong_password(visit, user, password if isinstance(password, str) else "")]
    if named != user.username:
        errors.append("Type your username, to be sure.")
    elif needs_code(user):
        errors.append(wrong_code(visit))

    def work(db: Connection) -> None:
        db.lock(NAMESPACES)
        delete_user(db, find_user(db, user.id), hard=False)

    reasons = [error for error in errors if error]
    if not reasons:
        try:
            visit.database.write(work)
        except Refusal as refusal:
            reasons = sentences(refusal)
    if reasons:
        return visit.database.read(lambda db: account_page(visit, db, {"account": reasons}))
    return Redirect("/users/sign_in", [set_cookie(visit.settings, SESSION_COOKIE, "", ends=True)])
