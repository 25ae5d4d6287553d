"""State changes and verification of second factors."""

import secrets

from sqlalchemy import bindparam, delete, update

from ingot.accounts.two_factor.queries import count_recovery_codes, second_factor_or_none
from ingot.accounts.two_factor.tables import SecondFactor, passkeys, recovery_codes, second_factors
from ingot.accounts.two_factor.totp import generate_secret, matching_step
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.core.errors import Invalid

RECOVERY_CODE_COUNT = 10
_DROP_FACTOR = delete(second_factors).where(second_factors.c.user_id == bindparam("user"))
_DROP_PASSKEYS = delete(passkeys).where(passkeys.c.user_id == bindparam("user"))
_DROP_CODES = delete(recovery_codes).where(recovery_codes.c.user_id == bindparam("user"))
# The condition makes using a code atomic: of two concurrent requests, only one succeeds.
_USE_STEP = (
    update(second_factors)
    .where(second_factors.c.id == bindparam("factor"), second_factors.c.last_step < bindparam("step"))
    .values(last_step=bindparam("step"))
)
_USE_CODE = delete(recovery_codes).where(
    recovery_codes.c.user_id == bindparam("user"), recovery_codes.c.digest == bindparam("digest")
)


def propose_second_factor(db: Connection, user: User) -> str:
    """Return the secret for the authenticator app; the factor is enabled once a code has been verified."""
    factor = second_factor_or_none(db, user.id)
    if factor is not None:
        return db.vault.unseal(factor.sealed)
    secret = generate_secret()
    db.insert(
        second_factors,
        user_id=user.id,
        sealed=db.vault.seal(secret),
        enabled=False,
        last_step=0,
        created_at=db.now,
    )
    return secret


def enable_second_factor(db: Connection, user: User, code: str) -> list[str]:
    """Enable the second factor and return new recovery codes; raise Invalid if the code is wrong.

    Only digests of the recovery codes are stored, so they cannot be shown again.
    """
    factor = second_factor_or_none(db, user.id)
    if factor is None or factor.enabled:
        raise Invalid(base=["Reload the page and start again"])
    if not _verify_totp(db, factor, code):
        raise Invalid(base=["The code is wrong. Enter the current code of the app, and check the clock of your phone"])
    db.update(second_factors, factor.id, enabled=True)
    db.update(users, user.id, two_factor_enabled=True, updated_at=db.now)
    return create_recovery_codes(db, user)


def disable_second_factor(db: Connection, user: User) -> None:
    """Disable two-factor authentication: delete the secret of the app, the passkeys and the recovery codes."""
    db.run(_DROP_FACTOR, user=user.id)
    db.run(_DROP_PASSKEYS, user=user.id)
    db.run(_DROP_CODES, user=user.id)
    db.update(users, user.id, two_factor_enabled=False, updated_at=db.now)


def create_recovery_codes(db: Connection, user: User) -> list[str]:
    """Replace the recovery codes and return the new ones."""
    db.run(_DROP_CODES, user=user.id)
    codes = [secrets.token_hex(8) for _ in range(RECOVERY_CODE_COUNT)]
    for code in codes:
        db.insert(recovery_codes, user_id=user.id, digest=db.vault.digest(f"{user.id}:{code}"))
    return codes


def verify_second_factor(db: Connection, user: User, code: str) -> bool:
    """Check a code of the app or a recovery code; each is accepted only once."""
    normalized = "".join(code.split()).lower()
    factor = second_factor_or_none(db, user.id)
    if factor is not None and factor.enabled and _verify_totp(db, factor, normalized):
        return True
    return db.run_counted(_USE_CODE, user=user.id, digest=db.vault.digest(f"{user.id}:{normalized}")) == 1


def _verify_totp(db: Connection, factor: SecondFactor, code: str) -> bool:
    if not (code.isascii() and code.isdigit()):
        return False
    step = matching_step(db.vault.unseal(factor.sealed), code, to_datetime(db.now).timestamp(), factor.last_step)
    return step is not None and db.run_counted(_USE_STEP, factor=factor.id, step=step) == 1


def codes_left(db: Connection, user: User) -> int:
    """Return how many recovery codes a user has not used."""
    return count_recovery_codes(db, user.id)


def has_authenticator_app(db: Connection, user: User) -> bool:
    """Return whether a user has set up an authenticator app."""
    factor = second_factor_or_none(db, user.id)
    return factor is not None and factor.enabled
