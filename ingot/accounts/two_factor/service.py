"""Turning the second factor on and off, and checking it."""

import secrets

from sqlalchemy import bindparam, delete, update

from ingot.accounts.two_factor.queries import second_factor_or_none
from ingot.accounts.two_factor.tables import SecondFactor, recovery_codes, second_factors
from ingot.accounts.two_factor.totp import generate_secret, matching_step
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.errors import Invalid

RECOVERY_CODE_COUNT = 10
_DROP_FACTOR = delete(second_factors).where(second_factors.c.user_id == bindparam("user"))
_DROP_CODES = delete(recovery_codes).where(recovery_codes.c.user_id == bindparam("user"))
# The condition decides between two who come at once with the same code.
_USE_STEP = (
    update(second_factors)
    .where(second_factors.c.id == bindparam("factor"), second_factors.c.last_step < bindparam("step"))
    .values(last_step=bindparam("step"))
)
_USE_CODE = delete(recovery_codes).where(
    recovery_codes.c.user_id == bindparam("user"), recovery_codes.c.digest == bindparam("digest")
)


def propose_second_factor(db: Connection, user: User) -> str:
    """The secret that an app is to be given; it counts once a code of it was right."""
    held = second_factor_or_none(db, user.id)
    if held is not None:
        return db.vault.unseal(held.sealed)
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
    """Let the second factor count from now on; gives the recovery codes, which are told here and never again."""
    held = second_factor_or_none(db, user.id)
    if held is None or held.enabled:
        raise Invalid(base=["Reload the page and begin anew"])
    if not _verify_totp(db, held, code):
        raise Invalid(base=["The code is not right. Look at the app again, and at the clock of your phone"])
    db.update(second_factors, held.id, enabled=True)
    db.update(users, user.id, two_factor_enabled=True, updated_at=db.now)
    return create_recovery_codes(db, user)


def disable_second_factor(db: Connection, user: User) -> None:
    """Let the password alone be enough again."""
    db.run(_DROP_FACTOR, user=user.id)
    db.run(_DROP_CODES, user=user.id)
    db.update(users, user.id, two_factor_enabled=False, updated_at=db.now)


def create_recovery_codes(db: Connection, user: User) -> list[str]:
    """New recovery codes; those before stop."""
    db.run(_DROP_CODES, user=user.id)
    codes = [secrets.token_hex(8) for _ in range(RECOVERY_CODE_COUNT)]
    for code in codes:
        db.insert(recovery_codes, user_id=user.id, digest=db.vault.digest(f"{user.id}:{code}"))
    return codes


def verify_second_factor(db: Connection, user: User, code: str) -> bool:
    """Whether a code is right: one of the app, each once, or a recovery code, which is used up by it."""
    typed = "".join(code.split()).lower()
    held = second_factor_or_none(db, user.id)
    if held is not None and held.enabled and _verify_totp(db, held, typed):
        return True
    return db.run(_USE_CODE, user=user.id, digest=db.vault.digest(f"{user.id}:{typed}")) == 1


def _verify_totp(db: Connection, held: SecondFactor, code: str) -> bool:
    if not (code.isascii() and code.isdigit()):
        return False
    step = matching_step(db.vault.unseal(held.sealed), code, to_datetime(db.now).timestamp(), held.last_step)
    return step is not None and db.run(_USE_STEP, factor=held.id, step=step) == 1
