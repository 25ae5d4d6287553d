"""Subscribers of pipelines to deleted users."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.pipelines.tables import commit_statuses, pipelines

subscriptions = Subscriptions()
_REASSIGN = tuple(
    update(table).where(table.c.user_id == bindparam("user")).values(user_id=bindparam("placeholder"))
    for table in (pipelines, commit_statuses)
)


@subscriptions.on(UserDeleting)
def reassign_pipelines(db: Connection, event: UserDeleting) -> None:
    """Assign the pipelines and statuses of a deleted user to the placeholder user."""
    for statement in _REASSIGN:
        db.run(statement, user=event.user_id, placeholder=event.placeholder_id)
