"""Messages that git prints after a push: the new address of a moved project, and links to merge requests."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project

_MAX_LINKS = 3


class ClientAddress(NamedTuple):
    """Path by which a client reached a project, and the prefix of such addresses on this server."""

    path: str
    prefix: str


def moved_message(project: Project, address: ClientAddress) -> list[str]:
    """Return lines with the current address, if the client used a former path of the project."""
    if address.path.strip("/").lower() == project.full_path.lower():
        return []
    return ["", "This project has moved; its address is now:", f"  {address.prefix}{project.full_path}.git", ""]


def merge_request_links(project: Project, updates: Sequence[RefUpdate], base_url: str) -> list[str]:
    """Return lines with a link to a new merge request for each pushed branch, unless the project disables them."""
    if not (project.printing_merge_request_link_enabled and project.merge_requests_enabled):
        return []
    branches = [update.branch for update in updates if update.branch and not update.deletes]
    lines = []
    for branch in [name for name in branches if name != project.default_branch][:_MAX_LINKS]:
        page = f"{base_url}/{project.full_path}/merge_requests/new"
        query = f"merge_request%5Bsource_branch%5D={quote(branch, safe='')}"
        lines += ["", f"To create a merge request for {branch}, visit:", f"  {page}?{query}"]
    return [*lines, ""] if lines else []
