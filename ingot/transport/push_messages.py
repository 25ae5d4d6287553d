"""Messages that git prints after a push: the new address of a moved project, and links to merge requests."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from ingot.accounts.instance.settings import custom_clone_root
from ingot.collaboration.merge_requests.queries import open_merge_requests_from
from ingot.core.db.connection import Connection
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project

_MAX_LINKS = 3


class ClientAddress(NamedTuple):
    """Path by which a client reached a project, and the prefix of such addresses on this server."""

    path: str
    prefix: str


def moved_message(db: Connection, project: Project, address: ClientAddress) -> list[str]:
    """Return lines with the current address, if the client used a former path of the project."""
    if address.path.strip("/").lower() == project.full_path.lower():
        return []
    root = custom_clone_root(db) if address.prefix.startswith("http") else None
    prefix = address.prefix if root is None else f"{root.rstrip('/')}/"
    return ["", "This project has moved; its address is now:", f"  {prefix}{project.full_path}.git", ""]


def option_warnings(warnings: Sequence[str]) -> list[str]:
    """Return lines with the reasons why options of the push had no effect."""
    if not warnings:
        return []
    return ["", "WARNINGS:", "Error encountered with push options:", *(f"  {warning}" for warning in warnings), ""]


def merge_request_links(
    db: Connection, project: Project, updates: Sequence[RefUpdate], base_url: str, applied: Mapping[str, str]
) -> list[str]:
    """Return lines with a link for each pushed branch, unless the project disables them.

    The link leads to the merge request that the push options have ``applied`` to, to the open one of the branch, or to
    the form for a new one.
    """
    if not (project.printing_merge_request_link_enabled and project.merge_requests_enabled):
        return []
    pushed = [update.branch for update in updates if update.branch and not update.deletes]
    branches = [name for name in pushed if name != project.default_branch or name in applied][:_MAX_LINKS]
    existing = {**(_open_merge_requests(db, project, branches) if branches else {}), **applied}
    lines = []
    for branch in branches:
        if branch in existing:
            lines += ["", f"View the merge request for {branch}:", f"  {base_url}/{existing[branch]}"]
        else:
            page = f"{base_url}/{project.full_path}/merge_requests/new"
            query = f"merge_request%5Bsource_branch%5D={quote(branch, safe='')}"
            lines += ["", f"To create a merge request for {branch}, visit:", f"  {page}?{query}"]
    return [*lines, ""] if lines else []


def _open_merge_requests(db: Connection, project: Project, branches: Sequence[str]) -> dict[str, str]:
    """Return the path of the newest open merge request of each branch.

    Only those into the project itself: the pusher might not have permission to see another project.
    """
    return {
        merge_request.source_branch: f"{project.full_path}/-/merge_requests/{merge_request.iid}"
        for merge_request in open_merge_requests_from(db, project.id, branches)
        if merge_request.target_project_id == project.id
    }
