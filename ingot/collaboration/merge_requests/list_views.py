"""Pages of merge requests as everybody sees them, with what is known of each in git."""

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
    found: Sequence[MergeRequest],
    base: str,
    project: Project | None = None,
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """The views of a page; where all of it is of one project, that is not looked up again."""
    places = {project.id: target_project_summary(project)} if project else target_project_summaries(db, found)
    keys = {number: place.repository_key for number, place in places.items()}
    verdicts = cached_mergeabilities(store, keys, found)
    return merge_request_views(db, found, base, places, verdicts, with_labels_details=with_labels_details)
