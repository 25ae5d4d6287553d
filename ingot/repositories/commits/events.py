"""What is asked of rooms above about commits."""

from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.db.paging import Listing, Page
from ingot.core.events.bus import Event


class MergeRequestsOfCommit(Event, frozen=True):
    """A port to merge requests, which lie above: who keeps them puts the page that a caller may see into ``found``."""

    project_id: int
    oid: str
    actor: Actor
    base: str
    page: Page
    found: list[Listing[Any]]
