"""What becomes of releases when others act."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.tags.service import delete_releases
from ingot.repositories.tags.tables import releases

subscriptions = Subscriptions()
_REASSIGN = update(releases).where(releases.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))


@subscriptions.on(RefsChanged)
def delete_releases_of_deleted_tags(db: Connection, event: RefsChanged) -> None:
    """A release goes with its tag."""
    gone = [update.tag for update in event.updates if update.deletes and update.tag is not None]
    if gone:
        delete_releases(db, event.project_id, gone)


@subscriptions.on(UserDeleting)
def reassign_releases(db: Connection, event: UserDeleting) -> None:
    """What somebody released stays, in the name of the placeholder."""
    db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
