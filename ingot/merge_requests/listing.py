"""Pages of merge requests as everybody sees them, with what is known of each in git."""

from collections.abc import Sequence

from ingot.db.connection import Connection
from ingot.git.store import Store
from ingot.merge_requests.queries import place_of, places_of
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.verdicts import kept_verdicts
from ingot.merge_requests.views import MergeRequestView, merge_request_views
from ingot.projects.tables import Project


def page_of_views(
    db: Connection,
    store: Store,
    found: Sequence[MergeRequest],
    base: str,
    project: Project | None = None,
    *,
    with_labels_details: bool = False,
) -> list[MergeRequestView]:
    """The views of a page; where all of it is of one project, that is not looked up again."""
    places = {project.id: place_of(project)} if project else places_of(db, found)
    keys = {number: place.repository_key for number, place in places.items()}
    verdicts = kept_verdicts(store, keys, found)
    return merge_request_views(db, found, base, places, verdicts, with_labels_details=with_labels_details)
