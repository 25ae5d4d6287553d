"""Queries of second factors, passkeys and recovery codes."""

from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.settings import (
    admin_second_factor_required_since,
    cached_stored_settings,
    decode_settings,
    second_factor_required_since,
)
from ingot.accounts.two_factor.ports import GroupRequirements
from ingot.accounts.two_factor.tables import Passkey, SecondFactor, passkeys, recovery_codes, second_factors
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration

_OF_USER = select(second_factors).where(second_factors.c.user_id == bindparam("user"))
_LEFT = select(func.count()).where(recovery_codes.c.user_id == bindparam("user"))
_PASSKEYS = select(passkeys).where(passkeys.c.user_id == bindparam("user")).order_by(passkeys.c.id)
_PASSKEY = select(passkeys).where(passkeys.c.credential_id == bindparam("credential_id"))


def second_factor_or_none(db: Connection, user_id: int) -> SecondFactor | None:
    """Return the user's second factor, even if it is not enabled yet."""
    return db.first(SecondFactor, _OF_USER, user=user_id)


def passkeys_of_user(db: Connection, user_id: int) -> list[Passkey]:
    """List the passkeys of a user, the oldest first."""
    return db.all(Passkey, _PASSKEYS, user=user_id)


def passkey_or_none(db: Connection, credential_id: bytes) -> Passkey | None:
    """Return the passkey with this WebAuthn identifier."""
    return db.first(Passkey, _PASSKEY, credential_id=credential_id)


def count_recovery_codes(db: Connection, user_id: int) -> int:
    """Count the unused recovery codes of a user."""
    count: int = db.value(_LEFT, user=user_id)
    return count


def second_factor_due_at(db: Connection, user: User) -> Timestamp | None:
    """Return when the grace period ends after which the user must have a second factor.

    None if the user has one, or neither the instance nor a group of the user requires it.
    """
    if user.two_factor_enabled:
        return None
    stored = cached_stored_settings(db)
    settings = decode_settings(stored)
    required_since = []
    if settings.require_two_factor_authentication:
        required_since.append(second_factor_required_since(stored))
    if user.admin and settings.require_admin_two_factor_authentication:
        required_since.append(admin_second_factor_required_since(stored))
    hours = settings.two_factor_grace_period
    due = [add_duration(max(user.created_at, since), hours=hours) for since in required_since]
    due_in_group = db.ports[GroupRequirements].due_at(db, user.id)
    return min([*due, due_in_group] if due_in_group is not None else due, default=None)


def is_second_factor_due(db: Connection, user: User) -> bool:
    """Check whether the user must set up a second factor now: it is required and the grace period is over."""
    due_at = second_factor_due_at(db, user)
    return due_at is not None and due_at <= db.now
