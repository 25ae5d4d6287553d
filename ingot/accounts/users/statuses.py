"""State changes of user statuses."""

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete

from ingot.accounts.users.params import ChangeStatus, SetStatus
from ingot.accounts.users.queries import user_status_or_none
from ingot.accounts.users.tables import User, UserStatus, statuses
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid

_CLEAR_AFTER = {
    "30_minutes": {"minutes": 30},
    "3_hours": {"hours": 3},
    "8_hours": {"hours": 8},
    "1_day": {"days": 1},
    "3_days": {"days": 3},
    "7_days": {"days": 7},
    "30_days": {"days": 30},
}
_DELETE_STATUS = delete(statuses).where(statuses.c.user_id == bindparam("user"))


def set_status(db: Connection, user: User, params: SetStatus) -> UserStatus | None:
    """Set a user's status; an empty one clears it."""
    db.run(_DELETE_STATUS, user=user.id)
    if not params.message and params.emoji == "speech_balloon" and params.availability == "not_set":
        return None
    if len(params.message) > 100:
        raise Invalid(message=["is too long (maximum is 100 characters)"])
    clear_at = add_duration(db.now, **_CLEAR_AFTER[params.clear_status_after]) if params.clear_status_after else None
    db.insert(
        statuses,
        user_id=user.id,
        emoji=params.emoji[:64],
        message=params.message,
        availability=params.availability,
        clear_at=clear_at,
    )
    return user_status_or_none(db, user)


def change_status(db: Connection, user: User, params: ChangeStatus) -> UserStatus | None:
    """Change parts of a user's status."""
    before = user_status_or_none(db, user)
    current = SetStatus() if before is None else SetStatus(before.emoji, before.message, before.availability)
    changed = set_status(db, user, msgspec.structs.replace(current, **given_fields(params)))
    if changed is not None and before is not None and before.clear_at and params.clear_status_after is UNSET:
        db.update(statuses, changed.id, clear_at=before.clear_at)
        return user_status_or_none(db, user)
    return changed
