"""Password hashes and rules for new passwords.

Hashing deliberately takes tens of milliseconds: never call it inline or within a transaction.
"""

from functools import cache

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ingot.core.errors import too_long_message

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


class PasswordRules(msgspec.Struct, frozen=True):
    """Rules that an instance has for new passwords."""

    min_length: int = MIN_LENGTH
    number: bool = False
    symbol: bool = False
    uppercase: bool = False
    lowercase: bool = False


def password_errors(password: str, rules: PasswordRules) -> list[str]:
    """Return why a new password cannot be used; empty if it can."""
    errors = []
    if len(password) < rules.min_length:
        errors.append(f"is too short (minimum is {rules.min_length} characters)")
    if len(password) > MAX_LENGTH:
        errors.append(too_long_message(MAX_LENGTH))
    if rules.number and not any(character.isdigit() for character in password):
        errors.append("must contain at least one number")
    if rules.lowercase and not any(character.islower() for character in password):
        errors.append("must contain at least one lowercase letter")
    if rules.uppercase and not any(character.isupper() for character in password):
        errors.append("must contain at least one uppercase letter")
    if rules.symbol and all(character.isalnum() or character.isspace() for character in password):
        errors.append("must contain at least one symbol")
    return errors
