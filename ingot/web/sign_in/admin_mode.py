"""Admin mode: administrators act as such for a time after they have signed in again for it."""

from urllib.parse import quote

from ingot.accounts.sessions.service import leave_admin_mode
from ingot.core.errors import NotFound
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, local_path

pages = PageRoutes()
ADMINISTRATION = "/admin"
_ENTRANCE = "/admin/session/new"


@pages.get(_ENTRANCE)
def show_admin_mode(visit: Visit) -> PageResponse:
    """Explain admin mode to an administrator who has not entered it."""
    if not visit.viewer.may_enter_admin_mode:
        raise NotFound("Page")
    back = local_path(visit.request.query.get("redirect_to")) or ADMINISTRATION
    if not is_administration(back):
        back = ADMINISTRATION
    return TemplateResponse("sign_in/admin_mode.html", {"back": quote(back, safe="")})


@pages.post("/admin/session/destroy", notice="You left admin mode.")
def end_admin_mode(visit: Visit) -> PageResponse:
    """End the admin mode of the session."""
    session = visit.viewer.session
    if session is None or not visit.viewer.in_admin_mode:
        raise NotFound("Page")
    visit.database.write(lambda db: leave_admin_mode(db, session))
    return LocalRedirect("/")


def is_administration(path: str) -> bool:
    """Return whether a path is that of an administration page, to which a sign-in leads into admin mode."""
    return path == ADMINISTRATION or path.startswith((f"{ADMINISTRATION}/", f"{ADMINISTRATION}?"))


def is_admin_mode_page(path: str) -> bool:
    """Return whether a route is that of a page in this module."""
    return path.startswith(f"{ADMINISTRATION}/session/")


def redirect_to_admin_mode(visit: Visit) -> LocalRedirect:
    """Redirect to the page that explains admin mode."""
    return LocalRedirect(f"{_ENTRANCE}?redirect_to={quote(visit.request.address, safe='')}")
