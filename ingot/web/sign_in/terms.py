"""Terms of service, which users must accept where the instance enforces them."""

from urllib.parse import quote

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.sessions.service import end_session
from ingot.accounts.users.service import accept_terms
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.web.cookies import SESSION_COOKIE, set_cookie
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, local_path
from ingot.web.texts import render_markdown

pages = PageRoutes()
TERMS_PATH = "/-/users/terms"


@pages.get(TERMS_PATH, open=True, with_expired_password=True)
def show_terms(visit: Visit, db: Connection) -> PageResponse:
    """Show the terms of service, with a form for users who must accept them."""
    terms = cached_all_settings(db).terms
    if not terms:
        raise NotFound("Page")
    back = local_path(visit.request.query.get("redirect_to")) or "/"
    context = {"terms": render_markdown(visit, terms), "back": back, "must_accept": visit.viewer.must_accept_terms}
    return TemplateResponse("sign_in/terms.html", context)


@pages.post("/-/users/terms/accept", notice="Terms accepted.", with_expired_password=True)
def accept_terms_of_service(visit: Visit) -> PageResponse:
    """Record that the user has accepted the terms of service."""
    user_id = visit.viewer.signed_in.id
    visit.database.write(lambda db: accept_terms(db, user_id))
    return LocalRedirect(local_path(visit.request.form.get("redirect_to")) or "/")


@pages.post("/-/users/terms/decline", notice="You declined the terms of service.", with_expired_password=True)
def decline_terms(visit: Visit) -> PageResponse:
    """End the session of a user who does not accept the terms of service."""
    session = visit.viewer.session
    assert session is not None  # noqa: S101 - The page requires a session.
    visit.database.write(lambda db: end_session(db, session))
    return LocalRedirect("/users/sign_in", [set_cookie(visit.settings, SESSION_COOKIE, "", ends=True)])


def redirect_to_terms(visit: Visit) -> LocalRedirect:
    """Redirect to the terms of service, and back to the page when they are accepted."""
    return LocalRedirect(f"{TERMS_PATH}?redirect_to={quote(visit.request.address, safe='')}")
