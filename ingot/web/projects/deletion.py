"""Progress page of the deletion of a project or group, for the user who deleted it."""

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.errors import NotFound
from ingot.projects.projects.deletion import pending_removals
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.signed_values import sign_value, verify_signed

pages = PageRoutes()
_PURPOSE = "deleting"


class DeletionToken(msgspec.Struct, frozen=True):
    """Signed content of the progress page's URL; once the deletion is done, nothing else records it."""

    user: int
    kind: str
    path: str
    projects: int
    since: Timestamp


def deletion_url(visit: Visit, kind: str, path: str, projects: int) -> str:
    """Return the URL of the progress page for a deletion that starts now."""
    content = DeletionToken(visit.viewer.signed_in.id, kind, path, projects, visit.database.clock())
    return f"/-/deleting/{sign_value(visit.database.vault, _PURPOSE, content)}"


@pages.get("/-/deleting/:what")
def show_deletion_progress(visit: Visit, db: Connection) -> PageResponse:
    """Show the progress of a deletion; the page polls this fragment until the deletion is complete."""
    found = verify_signed(db.vault, _PURPOSE, visit.request.path["what"], DeletionToken)
    if found is None or found.user != visit.viewer.signed_in.id:
        raise NotFound("Page")
    left = pending_removals(db, found.path, found.since)
    context = {
        "going": found,
        "left": left,
        "gone": max(found.projects - left.number, 0),
        "address": visit.request.address,
    }
    return TemplateResponse("projects/_deleting.html" if visit.headers.fragment else "projects/deleting.html", context)
