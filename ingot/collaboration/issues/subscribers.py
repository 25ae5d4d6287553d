"""Subscriber that reassigns or removes the issues of a deleted user."""

from sqlalchemy import bindparam, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.issues.service import remove_issue_relations
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_REASSIGN = update(issues).where(issues.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))
_WRITTEN = (
    select(*ISSUE_COLUMNS)
    .where(issues.c.author_id == bindparam("user"), issues.c.deleted_at.is_(None))
    .order_by(issues.c.project_id, issues.c.id)
)


@subscriptions.on(UserDeleting)
def reassign_issues(db: Connection, event: UserDeleting) -> None:
    """Reassign the user's issues to the placeholder user, or remove their relations for a hard deletion."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
        return
    for issue in db.all(Issue, _WRITTEN, user=event.user_id):
        remove_issue_relations(db, issue)
