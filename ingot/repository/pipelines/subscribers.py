"""What becomes of pipelines when users go."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.repository.pipelines.tables import commit_statuses, pipelines
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = tuple(
    update(table).where(table.c.user_id == bindparam("user")).values(user_id=bindparam("placeholder"))
    for table in (pipelines, commit_statuses)
)


@subscriptions.on(UserDeleting)
def hand_over_pipelines(db: Connection, event: UserDeleting) -> None:
    """What was said of commits stays, in the name of the placeholder."""
    for statement in _HAND_OVER:
        db.run(statement, user=event.user_id, placeholder=event.placeholder_id)
