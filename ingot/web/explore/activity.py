"""What happened in a project, and addresses by which people know our pages from elsewhere."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.explore.happenings import happenings
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.projects.place import place_of

pages = Pages()
_KNOWN_AS = {"/dashboard": "/", "/dashboard/projects": "/", "/explore/projects": "/explore"}


@pages.get("/:path/-/activity", open=True)
def show_activity(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What people did in a project, the newest first, as far as the visitor may know of it."""
    place = place_of(visit)
    events = place.get("/events", {"page": visit.page, "per_page": 30})
    context = {"events": events, "happenings": happenings(visit, events.items)}
    return place.page("explore/activity.html", "home", context)


def _leading_to(address: str) -> Any:
    return lambda visit, db: Redirect(address)  # noqa: ARG005 - Every page to read gets a connection.


for _path, _address in _KNOWN_AS.items():
    pages.get(_path, open=True)(_leading_to(_address))
