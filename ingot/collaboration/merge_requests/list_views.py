"""Views of pages of merge requests, with the cached mergeability of each."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.merge_requests.mergeability import cached_mergeabilities
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.pipelines import failed_heads
from ingot.collaboration.merge_requests.queries import (
    merge_requirements,
    target_project_summaries,
    target_project_summary,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import MergeRequestView, merge_request_views, simple_views
from ingot.core.access.actor import Actor
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import paths_of_projects, visible_projects_by_path
from ingot.projects.projects.tables import Project
from ingot.repositories.pipelines.policy import may_read_project_pipelines


def merge_request_list_views(
    db: Connection,
    store: RepositoryStore,
    page: Sequence[MergeRequest],
    base: str,
    project: Project | None = None,
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """Build the views of a page; ``project`` saves a query if all merge requests are of one project."""
    targets = {project.id: merge_requirements(db, project)} if project else target_project_summaries(db, page)
    keys = {project_id: target.repository_key for project_id, target in targets.items()}
    mergeabilities = cached_mergeabilities(store, keys, page)
    return merge_request_views(db, page, base, targets, mergeabilities, with_labels_details=with_labels_details)


def merge_requests_as_views(
    call: Call, listing: Listing[MergeRequest], params: ListMergeRequests, project: Project | None = None
) -> Listing[Any]:
    """Build the views of a page of merge requests, as the ``view`` parameter requests."""
    if params.view == "simple":
        targets = (
            {project.id: target_project_summary(project)}
            if project
            else target_project_summaries(call.db, listing.items)
        )
        return listing.of(simple_views(listing.items, call.origin.base, targets))
    store, details = repository_store(call.settings), params.with_labels_details
    views = merge_request_list_views(
        call.db, store, listing.items, call.origin.base, project, with_labels_details=details
    )
    return listing.of(views)


def failed_merge_requests(db: Connection, actor: Actor, page: Sequence[MergeRequestView]) -> set[int]:
    """Return the ids of the merge requests whose head pipeline failed, if the caller may see it; three statements."""
    sources = failed_heads(db, [view.id for view in page]) if page else {}
    paths = paths_of_projects(db, sorted(set(sources.values())))
    lookups = visible_projects_by_path(db, actor, paths.values()) if paths else {}
    readable = {
        lookup.project.id
        for lookup in lookups.values()
        if may_read_project_pipelines(actor, lookup.access, lookup.project)
    }
    return {number for number, source in sources.items() if source in readable}
