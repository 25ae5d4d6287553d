"""What becomes of issues when users go."""

from sqlalchemy import bindparam, select, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.issues.service import forget_issue
from ingot.issues.tables import ISSUE, Issue, issues
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = update(issues).where(issues.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))
_WRITTEN = (
    select(*ISSUE)
    .where(issues.c.author_id == bindparam("user"), issues.c.deleted_at.is_(None))
    .order_by(issues.c.project_id, issues.c.id)
)


@subscriptions.on(UserDeleting)
def hand_over_issues(db: Connection, event: UserDeleting) -> None:
    """What somebody wrote stays in the name of the placeholder, or goes with them where nothing is to stay."""
    if not event.hard:
        db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
        return
    for issue in db.all(Issue, _WRITTEN, user=event.user_id):
        forget_issue(db, issue)
