"""Progress page of the deletion of a project or group, for the user who deleted it."""

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.projects.projects.deletion import pending_removals
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

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


@pages.get("/-/deleting/:deletion")
def show_deletion_progress(visit: Visit, db: Connection) -> PageResponse:
    """Show the progress of a deletion; the page polls this fragment until the deletion is complete."""
    deletion = verify_signed(db.vault, _PURPOSE, visit.request.path["deletion"], DeletionToken)
    if deletion is None or deletion.user != visit.viewer.signed_in.id:
        raise NotFound("Page")
    remaining = pending_removals(db, deletion.path, deletion.since)
    context = {
        "deletion": deletion,
        "remaining": remaining,
        "deleted_count": max(deletion.projects - remaining.number, 0),
        "address": visit.request.address,
    }
    return TemplateResponse("projects/_deletion.html" if visit.headers.fragment else "projects/deletion.html", context)
