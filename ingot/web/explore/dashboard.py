"""Home page, lists of own and of visible projects, and choice of theme."""

from typing import Any

from ingot.accounts.appearance.records import current_appearance
from ingot.accounts.instance.settings import current_settings
from ingot.activity import api as activity_api
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.projects.groups import api as groups_api
from ingot.projects.projects import api as projects_api
from ingot.web.cookies import DISMISSED_COOKIE, MAX_DISMISSED, THEME_COOKIE, dismissed_ids, set_cookie
from ingot.web.explore.event_lines import activity_lines
from ingot.web.explore.needs import needs_of_user
from ingot.web.issues.todos import ACTIONS
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
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ORDERS = {
    "last_activity_at": "Recent activity",
    "created_at": "Newest first",
    "name": "Name",
    "star_count": "Most stars",
}
_BOXED = 8
"""Number of projects and groups beside the activity."""
_ACTIVITY: dict[str, tuple[str, dict[str, str]]] = {
    "": ("All", {}),
    "pushes": ("Pushes", {"action": "pushed"}),
    "issues": ("Issues", {"target_type": "issue"}),
    "merge_requests": ("Merge requests", {"target_type": "merge_request"}),
    "comments": ("Comments", {"action": "commented"}),
}
_YEAR_SECONDS = 31_536_000
_THEMES = ("light", "dark", "")


@pages.get("/", open=True)
def show_home(visit: Visit, db: Connection) -> PageResponse:
    """Show what waits for the user, projects and activity; others see what this instance is, or the home page set."""
    if visit.viewer.user is None:
        home_page = current_settings(db).home_page_url
        is_own = not home_page or home_page.rstrip("/") == visit.request.origin.base
        return _welcome(visit, db) if is_own else ExternalRedirect(str(home_page))
    activity_filter = text_field(visit.request.query, "activity")
    activity_filter = activity_filter if activity_filter in _ACTIVITY else ""
    events = visit.ask(
        activity_api.list_own_events, {"scope": "all", "per_page": 20, **_ACTIVITY[activity_filter][1]}
    ).items
    context = {
        "needs": needs_of_user(visit, db),
        "actions": ACTIONS,
        "projects": _own_projects(visit, "membership", _BOXED),
        "starred": _own_projects(visit, "starred", _BOXED),
        "groups": visit.ask(groups_api.list_groups, {"per_page": _BOXED}),
        "activity": activity_lines(visit, events),
        "activity_filter": activity_filter,
        "activity_filters": {key: name for key, (name, _) in _ACTIVITY.items()},
    }
    return TemplateResponse("explore/home.html", context)


def _welcome(visit: Visit, db: Connection) -> PageResponse:
    """Show the texts of the administrators, the ways in, and the public projects with the newest activity."""
    params = {"order_by": "last_activity_at", "per_page": _BOXED}
    context = {
        "description": render_markdown(visit, current_appearance(db).description),
        "may_register": current_settings(db).signup_enabled,
        "projects": visit.ask(projects_api.list_projects, params),
    }
    return TemplateResponse("explore/welcome.html", context)


@pages.get("/dashboard/projects")
def list_own_projects(visit: Visit) -> PageResponse:
    """List the projects that the user is a member of, or those with the user's star."""
    kind = "starred" if visit.request.query.get("filter") == "starred" else "membership"
    listing = _own_projects(visit, kind, 20, visit.request.page)
    return TemplateResponse("explore/own_projects.html", {"projects": listing, "kind": kind})


def _own_projects(visit: Visit, kind: str, size: int, page: object = 1) -> Listing[Any]:
    params = {kind: "true", "order_by": "last_activity_at", "per_page": size, "page": page}
    return visit.ask(projects_api.list_projects, params)


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


@pages.post("/-/broadcast_messages/:id/dismiss", open=True, with_expired_password=True)
def dismiss_broadcast_message(visit: Visit) -> PageResponse:
    """Hide a broadcast message in this browser for a year."""
    ids = [*dismissed_ids(visit.headers.cookies), path_number(visit.request.path, "id")][-MAX_DISMISSED:]
    value = ".".join(map(str, dict.fromkeys(ids)))
    back = local_path(visit.request.form.get("back")) or "/"
    return LocalRedirect(back, [set_cookie(visit.settings, DISMISSED_COOKIE, value, max_age=_YEAR_SECONDS)])


@pages.post("/-/theme", open=True, with_expired_password=True)
def choose_theme(visit: Visit) -> PageResponse:
    """Set the theme: light, dark, or that of the operating system."""
    theme = visit.request.form.get("theme")
    selected = theme if theme in _THEMES else ""
    back = local_path(visit.request.form.get("back")) or "/"
    return LocalRedirect(back, [set_cookie(visit.settings, THEME_COOKIE, str(selected), ends=not selected)])
