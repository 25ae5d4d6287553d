"""State changes of passkeys."""

from hashlib import sha256

from sqlalchemy import and_, bindparam, or_, update

from ingot.accounts.instance.throttles import count_attempt
from ingot.accounts.two_factor.queries import passkey_or_none, passkeys_of_user
from ingot.accounts.two_factor.service import create_recovery_codes, disable_second_factor, has_authenticator_app
from ingot.accounts.two_factor.tables import Passkey, passkeys
from ingot.accounts.two_factor.webauthn import AssertedCredential, NewCredential
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound, Unauthenticated, too_long_message

MAX_PASSKEYS = 20
MAX_NAME_LENGTH = 255
CHALLENGE_SECONDS = 600
# An authenticator that counts must report a larger number each time; otherwise it is a copy. The condition also makes
# the update atomic: of two concurrent requests with one response, only one succeeds.
_USE = (
    update(passkeys)
    .where(
        passkeys.c.id == bindparam("passkey"),
        or_(
            passkeys.c.sign_count < bindparam("counted"),
            and_(passkeys.c.sign_count == 0, bindparam("counted") == 0),
        ),
    )
    .values(sign_count=bindparam("counted"), last_used_at=bindparam("used_at"))
)


def user_handle(db: Connection, user_id: int) -> bytes:
    """Return the identifier of a user for authenticators, which reveals nothing about the account."""
    return bytes.fromhex(db.vault.derive("passkey user", str(user_id).encode()))


def own_passkeys(db: Connection, user: User) -> list[Passkey]:
    """List the passkeys of a user, the oldest first."""
    return passkeys_of_user(db, user.id)


def check_passkey_name(db: Connection, user: User, name: str) -> None:
    """Raise Invalid if the user cannot add a passkey with this name."""
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])
    if len(passkeys_of_user(db, user.id)) >= MAX_PASSKEYS:
        raise Invalid(base=[f"You can add up to {MAX_PASSKEYS} passkeys. Remove one first"])


def add_passkey(db: Connection, user: User, name: str, credential: NewCredential) -> list[str]:
    """Add a passkey; return new recovery codes if it is the user's first second factor, otherwise none."""
    check_passkey_name(db, user, name)
    if passkey_or_none(db, credential.credential_id) is not None:
        raise Invalid(base=["This passkey has already been added"])
    db.insert(
        passkeys,
        user_id=user.id,
        name=name.strip(),
        credential_id=credential.credential_id,
        credential=credential.credential,
        sign_count=credential.sign_count,
        created_at=db.now,
        last_used_at=None,
    )
    if user.two_factor_enabled:
        return []
    db.update(users, user.id, two_factor_enabled=True, updated_at=db.now)
    return create_recovery_codes(db, user)


def remove_passkey(db: Connection, user: User, passkey_id: int) -> None:
    """Remove a passkey of a user; without another second factor, two-factor authentication is disabled."""
    left = [passkey for passkey in passkeys_of_user(db, user.id) if passkey.id != passkey_id]
    if len(left) == len(passkeys_of_user(db, user.id)):
        raise NotFound("Passkey")
    db.delete(passkeys, passkey_id)
    if not left and not has_authenticator_app(db, user):
        disable_second_factor(db, user)


def find_asserted_passkey(db: Connection, asserted: AssertedCredential) -> Passkey:
    """Return the passkey that a response names; raise Unauthenticated if there is none."""
    passkey = passkey_or_none(db, asserted.credential_id)
    if passkey is None or asserted.user_handle not in (None, user_handle(db, passkey.user_id)):
        raise Unauthenticated
    return passkey


def record_use(db: Connection, passkey: Passkey, challenge: str, counted: int) -> None:
    """Record a verified response; raise Unauthenticated if it was used before or the authenticator is a copy."""
    use_challenge(db, challenge)
    if db.run_counted(_USE, passkey=passkey.id, counted=counted, used_at=db.now) != 1:
        raise Unauthenticated


def use_challenge(db: Connection, challenge: str) -> None:
    """Use up a challenge, so that a recorded response is worthless; raise Unauthenticated the second time."""
    key = f"passkey challenge {sha256(challenge.encode()).hexdigest()}"
    if count_attempt(db, key, CHALLENGE_SECONDS).count > 1:
        raise Unauthenticated
