"""Locks of accounts after too many failed sign-ins, if the instance limits their number.

A lock refuses the password of the account, also a correct one. Sessions, tokens, keys, passkeys and identity providers
still work, because failed attempts of strangers must not end the work of the owner.
"""

from collections.abc import Mapping

from sqlalchemy import bindparam, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration

UNLOCK_MINUTES = 10
"""Duration of a lock if the settings state none."""
UNLOCKED: Mapping[str, int | None] = {"failed_attempts": 0, "locked_at": None}
"""Columns of an account that is not locked."""
# Locks the row, so that concurrent attempts are both counted.
_FOR_UPDATE = select(users).where(users.c.id == bindparam("user")).with_for_update()


def is_locked(db: Connection, user: User) -> bool:
    """Return whether an account is locked; a lock ends after a time, or when the limit is removed."""
    if user.locked_at is None:
        return False
    settings = cached_all_settings(db)
    minutes = settings.failed_login_attempts_unlock_period_in_minutes or UNLOCK_MINUTES
    return bool(settings.max_login_attempts) and add_duration(user.locked_at, minutes=minutes) > db.now


def count_failed_attempt(db: Connection, user_id: int) -> bool:
    """Count a failed sign-in; lock the account and return True if it is the last one that is allowed."""
    limit = cached_all_settings(db).max_login_attempts
    user = db.first(User, _FOR_UPDATE, user=user_id) if limit else None
    if user is None or not limit or is_locked(db, user):
        return False
    attempts = 1 if user.locked_at is not None else user.failed_attempts + 1
    locks = attempts >= limit
    db.update(users, user.id, failed_attempts=attempts, locked_at=db.now if locks else None)
    return locks


def unlock_user(db: Connection, user: User) -> bool:
    """End the lock of an account and forget the failed attempts; return whether it was locked."""
    locked = is_locked(db, user)
    if user.failed_attempts or user.locked_at is not None:
        db.update(users, user.id, **UNLOCKED)
    return locked
