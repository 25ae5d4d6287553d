"""What becomes of links when issues go."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.issues.events import IssueChanged
from ingot.issues.links.service import drop_links

subscriptions = Subscriptions()


@subscriptions.on(IssueChanged)
def drop_with_issue(db: Connection, event: IssueChanged) -> None:
    """A deleted issue keeps its row, but has nothing to do with others any more."""
    if event.action == "deleted":
        drop_links(db, event.issue_id)
