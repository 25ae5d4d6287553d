"""What becomes of links when issues go."""

from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.links.service import delete_links
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()


@subscriptions.on(IssueChanged)
def delete_links_of_issue(db: Connection, event: IssueChanged) -> None:
    """A deleted issue keeps its row, but has nothing to do with others any more."""
    if event.action == "deleted":
        delete_links(db, event.issue_id)
