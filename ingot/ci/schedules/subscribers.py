"""Reactions of pipeline schedules to events of users."""

from ingot.accounts.users.events import UserBlocked, UserDeleting
from ingot.ci.schedules.queries import active_schedules_of_owner
from ingot.ci.schedules.service import deactivate_schedule
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()


@subscriptions.on(UserBlocked)
def stop_schedules_of_blocked_user(db: Connection, event: UserBlocked) -> None:
    """Deactivate the schedules of a blocked user."""
    _deactivate_schedules(db, event.user_id)


@subscriptions.on(UserDeleting)
def stop_schedules_of_deleted_user(db: Connection, event: UserDeleting) -> None:
    """Deactivate the schedules of a deleted user."""
    _deactivate_schedules(db, event.user_id)


def _deactivate_schedules(db: Connection, user_id: int) -> None:
    for schedule in active_schedules_of_owner(db, user_id):
        deactivate_schedule(db, schedule)
