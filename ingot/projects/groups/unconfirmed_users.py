"""Deletion of users who have not confirmed their address in time."""

from itertools import islice

from sqlalchemy import bindparam, select

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.users.service import delete_user
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.names import NAMESPACES
from ingot.projects.groups.queries import groups_with_sole_owner

MAX_USERS = 100
"""Users who are deleted in one transaction; the next run continues."""
_MAX_CANDIDATES = 1_000
_UNCONFIRMED = (
    select(users)
    .where(
        users.c.confirmed_at.is_(None),
        users.c.created_at < bindparam("before"),
        users.c.state == "active",
        users.c.current_sign_in_at.is_(None),
        users.c.last_activity_on.is_(None),
        users.c.admin.is_(False),
        users.c.bot.is_(False),
        users.c.placeholder.is_(False),
    )
    .order_by(users.c.id)
    .limit(_MAX_CANDIDATES)
)


def delete_unconfirmed_users(db: Connection) -> None:
    """Delete users who have never been active nor confirmed an address, if the instance requires that and deletes them.

    The only owners of groups stay, because their groups would be deleted with them.
    """
    settings = all_settings(db)
    if not settings.delete_unconfirmed_users or settings.email_confirmation_setting == "off":
        return
    db.lock(NAMESPACES)
    before = add_duration(db.now, days=-settings.unconfirmed_users_delete_after_days)
    candidates = db.all(User, _UNCONFIRMED, before=before)
    deleted = (user for user in candidates if not groups_with_sole_owner(db, user.id))
    for user in islice(deleted, MAX_USERS):
        delete_user(db, user, hard=False)
