"""Groups that one may see, and a group with what is in it."""

from typing import Any

from ingot.activity.params import ListEvents
from ingot.activity.queries import list_events
from ingot.activity.views import event_views
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.groups.params import ListGroups
from ingot.groups.policy import may_create_project_in, may_create_subgroup
from ingot.groups.queries import find_group, list_groups
from ingot.groups.views import group_view
from ingot.projects.views import addresses_of
from ingot.web.explore.calendar import calendar_of
from ingot.web.explore.happenings import happenings
from ingot.web.groups.belonging import belonging
from ingot.web.issues.group_place import GroupPlace, group_place_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.texts import html_of

pages = Pages()
_GROUPS, _HAPPENINGS = 20, 10


@pages.get("/explore/groups", open=True)
def show_groups(visit: Visit, db: Connection) -> Reply:
    """All groups that the visitor may see; ``search`` names some."""
    search = _text(visit, "search")
    page = ListPage(_number(visit), _GROUPS)
    found = list_groups(db, visit.actor_or_nobody, ListGroups(search=search, all_available=True), page)
    groups = found.of([group_view(group, visit.origin.base) for group in found.items])
    return Page("groups/explore.html", {"groups": groups, "search": search})


@pages.get("/groups", open=True)
def lead_to_groups(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The list has an address of its own."""
    return Redirect("/explore/groups")


@pages.get("/groups/:path", open=True)
def show_group(visit: Visit, db: Connection) -> Reply:
    """A group with its subgroups and projects, and what happened in them."""
    place = group_place_of(visit)
    group, search = place.group, _text(visit, "search")
    wanted = {"order_by": "last_activity_at", "search": search, "page": visit.query.get("page", "1")}
    newest = ListPage(size=_HAPPENINGS, keyset=True)  # How many there are is not said, and would take long to count.
    did = list_events(db, visit.actor_or_nobody, ListEvents(), newest, "group", group=group.id)
    context: dict[str, Any] = {
        "description": html_of(visit, group.description, None),
        "subgroups": place.get("/subgroups", {"per_page": 100}).items,
        "projects": place.get("/projects", wanted),
        "members": place.get("/members/all", {"per_page": 1}).total,
        "happenings": happenings(visit, event_views(db, did.items, addresses_of(visit.origin, visit.settings))),
        "calendar": calendar_of(db, visit.actor_or_nobody, "group", group.id),
        "search": search,
        "belonging": belonging(place, db),
        **_offers(place, db),
    }
    return place.page("groups/home.html", "home", context)


def _offers(place: GroupPlace, db: Connection) -> dict[str, bool]:
    visit = place.visit
    here, group = find_group(db, visit.actor_or_nobody, place.group.id)
    known = visit.user is not None
    return {
        "may_add_project": known and may_create_project_in(visit.actor_or_nobody, here, group),
        "may_add_group": visit.user is not None and may_create_subgroup(visit.actor, here, visit.user),
    }


def _text(visit: Visit, name: str) -> str:
    value = visit.query.get(name, "")
    return value if isinstance(value, str) and "\0" not in value else ""


def _number(visit: Visit) -> int:
    text = _text(visit, "page")
    return max(1, min(int(text), 10**6)) if text.isdecimal() and len(text) < 8 else 1
