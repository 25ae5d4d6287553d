"""Password hashes. Hashing deliberately takes tens of milliseconds: never call it inline or within a transaction."""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ingot.errors import too_long_message

MIN_LENGTH = 8
MAX_LENGTH = 1024


@cache
def _hasher() -> PasswordHasher:
    # OWASP's smallest recommended setting: safe, and concurrent sign-ins need little memory.
    return PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)


@cache
def _dummy_hash() -> str:
    return _hasher().hash("dummy password")


def hash_password(password: str) -> str:
    """Return the hash that is stored for a password."""
    return _hasher().hash(password)


def password_matches(hashed: str | None, password: str) -> bool:
    """Check a password against a hash.

    Takes as long for a user without a password or for an unknown user, so that timing does not reveal which users
    exist.
    """
    try:
        matched = _hasher().verify(hashed or _dummy_hash(), password[:MAX_LENGTH])
    except (VerificationError, InvalidHashError):
        return False
    return matched and hashed is not None


def password_error(password: str) -> str | None:
    """Return why a password cannot be used, or None if it can."""
    if len(password) < MIN_LENGTH:
        return f"is too short (minimum is {MIN_LENGTH} characters)"
    if len(password) > MAX_LENGTH:
        return too_long_message(MAX_LENGTH)
    return None
