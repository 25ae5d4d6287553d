"""List of visible groups, and the overview page of a group."""

from typing import Any

from ingot.activity.views import newest_events
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.groups import api as groups_api
from ingot.projects.groups.views import group_offers, visible_group_views
from ingot.projects.projects.views import instance_urls_at
from ingot.web.explore.calendar import contribution_calendar
from ingot.web.explore.event_lines import activity_lines
from ingot.web.explore.feeds import feed_address, feed_visit_at_path, group_activity_feed, is_feed_path
from ingot.web.groups.membership import membership_status
from ingot.web.groups.notification_settings import watch_menu_or_none
from ingot.web.issues.group_context import GroupContext, group_context
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.texts import render_markdown

pages = PageRoutes()
_GROUPS_PER_PAGE, _ACTIVITY_LINES = 20, 10


@pages.get("/explore/groups", open=True)
def show_groups(visit: Visit, db: Connection) -> PageResponse:
    """List the groups that the user has permission to see, filtered by ``search``."""
    search = _text(visit, "search")
    page, base = ListPage(_number(visit), _GROUPS_PER_PAGE), visit.request.origin.base
    groups = visible_group_views(db, visit.viewer.actor, search, page, base)
    return TemplateResponse("groups/explore.html", {"groups": groups, "search": search})


@pages.get("/groups", open=True)
def redirect_to_groups(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Redirect to the list of groups."""
    return LocalRedirect("/explore/groups")


@pages.get("/groups/:path", open=True)
def show_group(visit: Visit, db: Connection) -> PageResponse:
    """Show a group with its subgroups, projects and activity, or its feed for ``….atom``."""
    if is_feed_path(visit):
        return group_activity_feed(feed_visit_at_path(visit))
    parent = group_context(visit)
    group, search = parent.group, _text(visit, "search")
    params = {"order_by": "last_activity_at", "search": search, "page": visit.request.query.get("page", "1")}
    at = instance_urls_at(visit.request.origin.base, visit.settings)
    events = newest_events(db, visit.viewer.actor, "group", group.id, _ACTIVITY_LINES, at)
    context: dict[str, Any] = {
        "description": render_markdown(visit, group.description, None),
        "subgroups": parent.ask(groups_api.list_subgroups, {"per_page": 100}).items,
        "projects": parent.ask(group_projects_api.list_projects_of_group, params),
        "members": parent.ask(groups_api.list_all_group_members, {"per_page": 1}).total,
        "activity": activity_lines(visit, events),
        "calendar": contribution_calendar(db, visit.viewer.actor, "group", group.id),
        "feed": feed_address(visit, f"/{group.full_path}.atom"),
        "search": search,
        "membership": membership_status(parent, db),
        "watch": watch_menu_or_none(parent),
        **_allowed_actions(parent),
    }
    return parent.page("groups/home.html", "home", context)


def _allowed_actions(parent: GroupContext) -> dict[str, bool]:
    user, actor = parent.visit.viewer.user, parent.visit.viewer.actor
    if user is None:
        return {"may_add_project": False, "may_add_group": False}
    allowed = parent.visit.database.read(lambda db: group_offers(db, actor, user, parent.group.id))
    return {"may_add_project": allowed.project, "may_add_group": allowed.subgroup}


def _text(visit: Visit, name: str) -> str:
    value = visit.request.query.get(name, "")
    return value if isinstance(value, str) and "\0" not in value else ""


def _number(visit: Visit) -> int:
    return max(1, min(number_or_none(_text(visit, "page")) or 1, 10**6))
