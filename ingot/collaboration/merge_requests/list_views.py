"""Views of pages of merge requests, with the cached mergeability of each."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.mergeability import cached_mergeabilities
from ingot.collaboration.merge_requests.queries import target_project_summaries, target_project_summary
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import MergeRequestView, merge_request_views
from ingot.core.db.connection import Connection
from ingot.git.maintenance.store import RepositoryStore
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
