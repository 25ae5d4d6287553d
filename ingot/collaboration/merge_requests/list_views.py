"""Views of pages of merge requests, with the cached mergeability of each."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.merge_requests.mergeability import cached_mergeabilities
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.queries import target_project_summaries, target_project_summary
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import MergeRequestView, merge_request_views, simple_views
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import Project


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
    targets = {project.id: target_project_summary(project)} if project else target_project_summaries(db, page)
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
