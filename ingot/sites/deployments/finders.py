"""Finder of the projects whose sites requests are about."""

from ingot.core.access.levels import Access
from ingot.core.api.routes import Call
from ingot.core.errors import NotFound
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project


def require_sites(call: Call) -> None:
    """Raise NotFound if the server publishes no sites."""
    if not call.settings.serves_sites:
        raise NotFound(message="404 Not Found")


def project_with_pages(call: Call) -> tuple[Access, Project]:
    """Return the project in the path, if the server publishes sites."""
    require_sites(call)
    return project_in_path(call)
