"""What people read in their terminal."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project

_MAX_LINKS = 3


class RequestedPath(NamedTuple):
    """By which path a client came, and what stands before a project's path in addresses of that kind."""

    path: str
    before: str


def project_moved_message(project: Project, asked: RequestedPath) -> list[str]:
    """Where the project is now, for those who came by a path that it had before."""
    if asked.path.strip("/").lower() == project.full_path.lower():
        return []
    return ["", "This project has moved; its address is now:", f"  {asked.before}{project.full_path}.git", ""]


def merge_request_links(project: Project, happened: Sequence[RefUpdate], base_url: str) -> list[str]:
    """Where to open a merge request for what was pushed, unless the project does not want that said."""
    if not (project.printing_merge_request_link_enabled and project.merge_requests_enabled):
        return []
    branches = [update.branch for update in happened if update.branch and not update.deletes]
    lines = []
    for branch in [name for name in branches if name != project.default_branch][:_MAX_LINKS]:
        page = f"{base_url}/{project.full_path}/merge_requests/new"
        asked = f"merge_request%5Bsource_branch%5D={quote(branch, safe='')}"
        lines += ["", f"To create a merge request for {branch}, visit:", f"  {page}?{asked}"]
    return [*lines, ""] if lines else []
