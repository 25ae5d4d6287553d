"""What becomes of releases when others act."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.repository.changes.events import RefsChanged
from ingot.repository.tags.service import drop_releases
from ingot.repository.tags.tables import releases
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = (
    update(releases).where(releases.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))
)


@subscriptions.on(RefsChanged)
def forget_deleted_tags(db: Connection, event: RefsChanged) -> None:
    """A release goes with its tag."""
    gone = [update.tag for update in event.updates if update.deletes and update.tag is not None]
    if gone:
        drop_releases(db, event.project_id, gone)


@subscriptions.on(UserDeleting)
def hand_over_releases(db: Connection, event: UserDeleting) -> None:
    """What somebody released stays, in the name of the placeholder."""
    db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
