"""Subscribers of releases to deleted tags and users."""

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
    """Delete the releases of deleted tags."""
    deleted = [update.tag for update in event.updates if update.deletes and update.tag is not None]
    if deleted:
        delete_releases(db, event.project_id, deleted)


@subscriptions.on(UserDeleting)
def reassign_releases(db: Connection, event: UserDeleting) -> None:
    """Assign the releases of a deleted user to the placeholder user."""
    db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
