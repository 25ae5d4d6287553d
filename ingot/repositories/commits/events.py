"""Query about commits to higher packages."""

from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.db.paging import Listing, Page
from ingot.core.events.bus import Event


class MergeRequestsOfCommit(Event, frozen=True):
    """Query for a page of the merge requests that introduced a commit; the subscriber adds it to ``found``."""

    project_id: int
    oid: str
    actor: Actor
    base: str
    page: Page
    found: list[Listing[Any]]
