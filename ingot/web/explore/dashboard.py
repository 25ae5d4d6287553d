"""Home page, list of visible projects, and choice of theme."""

from ingot.accounts.instance.settings import current_settings
from ingot.core.db.connection import Connection
from ingot.discovery.activity import api as activity_api
from ingot.projects.projects import api as projects_api
from ingot.web.cookies import THEME_COOKIE, set_cookie
from ingot.web.explore.event_lines import activity_lines
from ingot.web.page_routes import (
    ExternalRedirect,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    local_path,
    text_field,
)

pages = PageRoutes()
_ORDERS = {
    "last_activity_at": "Recent activity",
    "created_at": "Newest first",
    "name": "Name",
    "star_count": "Most stars",
}
_THEMES = ("light", "dark", "")


@pages.get("/", open=True)
def show_home(visit: Visit, db: Connection) -> PageResponse:
    """Show the user's projects and activity; redirect signed-out users to the configured home page or to /explore."""
    if visit.viewer.user is None:
        home_page = current_settings(db).home_page_url
        is_own = not home_page or home_page.rstrip("/") == visit.request.origin.base
        return LocalRedirect("/explore") if is_own else ExternalRedirect(str(home_page))
    projects = visit.ask(
        projects_api.list_projects, {"membership": "true", "order_by": "last_activity_at", "per_page": 20}
    )
    events = visit.ask(activity_api.list_own_events, {"scope": "all", "per_page": 15}).items
    return TemplateResponse("explore/home.html", {"projects": projects, "activity": activity_lines(visit, events)})


@pages.get("/explore", open=True)
def show_explore(visit: Visit) -> PageResponse:
    """List the projects that the user has permission to see, filtered by ``search`` and ``topic``."""
    search, topic, order = (text_field(visit.request.query, name) for name in ("search", "topic", "order_by"))
    order = order if order in _ORDERS else next(iter(_ORDERS))
    sort = "asc" if order == "name" else "desc"
    params = {
        "order_by": order,
        "sort": sort,
        "search": search,
        "topic": topic,
        "page": visit.request.query.get("page", "1"),
    }
    context = {"projects": visit.ask(projects_api.list_projects, params), "search": search, "topic": topic}
    return TemplateResponse("explore/projects.html", {**context, "orders": _ORDERS, "order": order})


@pages.post("/-/theme", open=True, with_expired_password=True)
def choose_theme(visit: Visit) -> PageResponse:
    """Set the theme: light, dark, or that of the operating system."""
    theme = visit.request.form.get("theme")
    selected = theme if theme in _THEMES else ""
    back = local_path(visit.request.form.get("back")) or "/"
    return LocalRedirect(back, [set_cookie(visit.settings, THEME_COOKIE, str(selected), ends=not selected)])
