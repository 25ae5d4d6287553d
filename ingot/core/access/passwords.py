"""Password hashes. Hashing takes tens of milliseconds on purpose: never inline, never within a transaction."""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ingot.errors import too_long_message

MIN_LENGTH = 8
MAX_LENGTH = 1024


@cache
def _hasher() -> PasswordHasher:
    # OWASP's smallest recommended setting: safe, and many sign-ins at once stay within little memory.
    return PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)


@cache
def _dummy_hash() -> str:
    return _hasher().hash("nobody has this password")


def hash_password(password: str) -> str:
    """What is stored instead of the password."""
    return _hasher().hash(password)


def password_matches(hashed: str | None, password: str) -> bool:
    """Whether the password is the right one; takes as long for a user who has none or does not exist."""
    try:
        matched = _hasher().verify(hashed or _dummy_hash(), password[:MAX_LENGTH])
    except (VerificationError, InvalidHashError):
        return False
    return matched and hashed is not None


def password_error(password: str) -> str | None:
    """Why a password cannot be used, or nothing where it can."""
    if len(password) < MIN_LENGTH:
        return f"is too short (minimum is {MIN_LENGTH} characters)"
    if len(password) > MAX_LENGTH:
        return too_long_message(MAX_LENGTH)
    return None
