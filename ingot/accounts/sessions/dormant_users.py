"""Deactivation of users who have not been active for a long time."""

from sqlalchemy import bindparam, exists, func, select

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.service import block_user
from ingot.accounts.users.tables import User, users
from ingot.core.access.actor import ANONYMOUS
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration, day_of
from ingot.core.names import NAMESPACES

MAX_USERS = 100
"""Users who are deactivated in one transaction; the next run continues."""
# Administrators stay active, because nobody could activate the last one.
_DORMANT = (
    select(users)
    .where(
        users.c.state == "active",
        users.c.admin.is_(False),
        users.c.bot.is_(False),
        users.c.placeholder.is_(False),
        users.c.blocked_by_directory.is_(False),
        func.coalesce(users.c.last_activity_on, func.substr(users.c.created_at, 1, 10)) < bindparam("since"),
        # Calls with a token do not count as activity elsewhere.
        ~exists().where(access_tokens.c.user_id == users.c.id, access_tokens.c.last_used_at >= bindparam("since")),
    )
    .order_by(users.c.id)
    .limit(MAX_USERS)
)


def deactivate_dormant_users(db: Connection) -> None:
    """Deactivate users without activity, if the instance does so."""
    settings = all_settings(db)
    if not settings.deactivate_dormant_users:
        return
    db.lock(NAMESPACES)
    since = day_of(add_duration(db.now, days=-settings.deactivate_dormant_users_period))
    for user in db.all(User, _DORMANT, since=since):
        block_user(db, ANONYMOUS, user, "deactivated")
