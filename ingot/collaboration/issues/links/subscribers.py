"""Subscriber that deletes the links of deleted issues."""

from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.links.service import delete_links
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()


@subscriptions.on(IssueChanged)
def delete_links_of_issue(db: Connection, event: IssueChanged) -> None:
    """Delete the links of a deleted issue, because its row remains and no cascade applies."""
    if event.action == "deleted":
        delete_links(db, event.issue_id)
