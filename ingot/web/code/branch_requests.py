"""Merge requests of branches: the open one, or the form for a new one."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.list_views import open_requests_by_branch
from ingot.collaboration.merge_requests.views import SimpleMergeRequestView
from ingot.core.db.connection import Connection
from ingot.web.formats import local_url
from ingot.web.projects.context import ProjectContext


def open_requests(parent: ProjectContext, db: Connection, branches: Sequence[str]) -> dict[str, SimpleMergeRequestView]:
    """Return the open merge request from each of these branches that has one, in a fixed number of statements."""
    visit = parent.visit
    return open_requests_by_branch(db, visit.viewer.actor, parent.project.id, branches, visit.request.origin.base)


def request_address(parent: ProjectContext, branch: str, target: str) -> str:
    """Return the URL of the open merge request from a branch, or of the form for a new one."""
    view = parent.visit.database.read(lambda db: open_requests(parent, db, [branch])).get(branch)
    return local_url(view.web_url) if view else parent.new_merge_request(branch, target)
