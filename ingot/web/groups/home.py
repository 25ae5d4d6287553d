"""Groups that one may see, and a group with what is in it."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.discovery.activity.params import ListActivityEvents
from ingot.discovery.activity.queries import list_events
from ingot.discovery.activity.views import event_views
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.policy import may_create_project_in, may_create_subgroup
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.groups.views import group_view
from ingot.projects.projects.views import instance_urls
from ingot.web.explore.calendar import contribution_calendar
from ingot.web.explore.event_lines import activity_lines
from ingot.web.groups.membership import membership_status
from ingot.web.issues.group_context import GroupContext, group_context
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.texts import render_markdown

pages = PageRoutes()
_GROUPS_PER_PAGE, _ACTIVITY_LINES = 20, 10


@pages.get("/explore/groups", open=True)
def show_groups(visit: Visit, db: Connection) -> PageResponse:
    """All groups that the visitor may see; ``search`` names some."""
    search = _text(visit, "search")
    page = ListPage(_number(visit), _GROUPS_PER_PAGE)
    found = list_groups(db, visit.actor_or_anonymous, ListGroups(search=search, all_available=True), page)
    groups = found.of([group_view(group, visit.origin.base) for group in found.items])
    return TemplateResponse("groups/explore.html", {"groups": groups, "search": search})


@pages.get("/groups", open=True)
def redirect_to_groups(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The list has an address of its own."""
    return LocalRedirect("/explore/groups")


@pages.get("/groups/:path", open=True)
def show_group(visit: Visit, db: Connection) -> PageResponse:
    """A group with its subgroups and projects, and what happened in them."""
    place = group_context(visit)
    group, search = place.group, _text(visit, "search")
    wanted = {"order_by": "last_activity_at", "search": search, "page": visit.query.get("page", "1")}
    newest = ListPage(
        size=_ACTIVITY_LINES, keyset=True
    )  # How many there are is not said, and would take long to count.
    did = list_events(db, visit.actor_or_anonymous, ListActivityEvents(), newest, "group", group=group.id)
    context: dict[str, Any] = {
        "description": render_markdown(visit, group.description, None),
        "subgroups": place.get("/subgroups", {"per_page": 100}).items,
        "projects": place.get("/projects", wanted),
        "members": place.get("/members/all", {"per_page": 1}).total,
        "happenings": activity_lines(visit, event_views(db, did.items, instance_urls(visit.origin, visit.settings))),
        "calendar": contribution_calendar(db, visit.actor_or_anonymous, "group", group.id),
        "search": search,
        "belonging": membership_status(place, db),
        **_allowed_actions(place, db),
    }
    return place.page("groups/home.html", "home", context)


def _allowed_actions(place: GroupContext, db: Connection) -> dict[str, bool]:
    visit = place.visit
    access, group = find_group(db, visit.actor_or_anonymous, place.group.id)
    known = visit.user is not None
    return {
        "may_add_project": known and may_create_project_in(visit.actor_or_anonymous, access, group),
        "may_add_group": visit.user is not None and may_create_subgroup(visit.actor, access, visit.user),
    }


def _text(visit: Visit, name: str) -> str:
    value = visit.query.get(name, "")
    return value if isinstance(value, str) and "\0" not in value else ""


def _number(visit: Visit) -> int:
    text = _text(visit, "page")
    return max(1, min(int(text), 10**6)) if text.isdecimal() and len(text) < 8 else 1
