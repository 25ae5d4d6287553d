"""Subscriber that reserves the unique domains of sites."""

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespacePathRequested
from ingot.sites.project_pages.queries import pages_by_unique_domain

subscriptions = Subscriptions()


@subscriptions.on(NamespacePathRequested)
def refuse_unique_domain(db: Connection, event: NamespacePathRequested) -> None:
    """Raise Conflict for the path of a group or user whose sites would have the host of another site."""
    if "/" not in event.full_path_key and pages_by_unique_domain(db, event.full_path_key) is not None:
        raise Conflict(path=["has already been taken"])
