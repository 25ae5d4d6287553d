"""Activity page of a project, and redirects from GitLab's URLs of the dashboard."""

from typing import Any

from ingot.activity import api as activity_api
from ingot.web.explore.event_lines import activity_lines
from ingot.web.explore.feeds import feed_address
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
_ALTERNATIVE_PATHS = {"/dashboard": "/", "/explore/projects": "/explore"}


@pages.get("/:path/-/activity", open=True)
def show_activity(visit: Visit) -> PageResponse:
    """Show the events of a project that the user has permission to see, newest first."""
    parent = project_context(visit)
    events = parent.ask(activity_api.list_project_events, {"page": visit.request.page, "per_page": 30})
    feed = feed_address(visit, f"{parent.url}/-/activity.atom")
    context = {"events": events, "activity": activity_lines(visit, events.items), "feed": feed}
    return parent.page("explore/activity.html", "home", context)


def _redirect_to(address: str) -> Any:
    return lambda visit: LocalRedirect(address)  # noqa: ARG005 - Every page takes the visit.


for _path, _address in _ALTERNATIVE_PATHS.items():
    pages.get(_path, open=True)(_redirect_to(_address))
