"""Accounts of identities at external providers: found, created, linked and unlinked."""

import re

import msgspec
from sqlalchemy import bindparam, exists, select

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.addresses import claims_to_address
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import (
    find_user,
    identities_by_user,
    identity_owner_or_none,
    user_by_username_or_none,
)
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import User, emails, identities
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.core.names import NAMESPACES, path_error

_INVALID_IN_USERNAME = re.compile(r"[^A-Za-z0-9_.-]+")
_IS_CONFIRMED = select(
    exists().where(
        emails.c.user_id == bindparam("user"),
        emails.c.email == bindparam("address"),
        emails.c.proven_at.is_not(None),
    )
)
_MAX_LENGTH = 200


class ProviderIdentity(msgspec.Struct, frozen=True):
    """Identity of a user at an external provider."""

    provider: str
    uid: str
    username: str
    name: str
    email: str
    """Empty unless the provider has verified it."""


def find_or_create_account(db: Connection, identity: ProviderIdentity, *, sign_up: bool, link_by_email: bool) -> User:
    """Return the account of an identity: the linked one, the one with its email address, or a new one.

    The lock of names must be held. Raise ``Denied`` with a sentence for the user if the settings allow none of these.
    """
    db.must_hold(NAMESPACES)
    owner = identity_owner_or_none(db, identity.provider, identity.uid)
    if owner is not None:
        return find_user(db, owner)
    if not identity.email:
        raise Denied("The provider has no verified email address for you.")
    # An unproven secondary address, or an account that cannot sign in, does not keep the owner of the address out.
    claim = next((each for each in claims_to_address(db, identity.email.strip().lower()) if each.in_use), None)
    if claim is not None:
        holder = find_user(db, claim.user_id)
        if not link_by_email or not _is_confirmed(db, holder, identity.email):
            raise Denied("An account with your email address exists already. Ask an administrator to link it.")
        if any(held.provider == identity.provider for held in identities_by_user(db, [holder.id]).get(holder.id, ())):
            raise Denied("The account with your email address is linked to another identity of this provider.")
        db.insert(identities, user_id=holder.id, provider=identity.provider, extern_uid=identity.uid)
        return holder
    if not sign_up:
        raise Denied("You have no account on this instance. Ask an administrator for one.")
    return _create(db, identity)


def _is_confirmed(db: Connection, holder: User, address: str) -> bool:
    """Return whether the owner of an account confirmed this address.

    Otherwise an attacker could register the address of another person and wait for them to sign in by the provider.
    Addresses that were added while confirmation was off stay unconfirmed.
    """
    if holder.placeholder or not current_settings(db).send_user_confirmation_email:
        return False
    if holder.email == address.lower():
        return holder.proven_at is not None
    return bool(db.value(_IS_CONFIRMED, user=holder.id, address=address.lower()))


def _create(db: Connection, identity: ProviderIdentity) -> User:
    username = _free_username(db, identity.username or identity.email.partition("@")[0])
    params = CreateUser(
        email=identity.email,
        username=username,
        name=(identity.name or username)[:_MAX_LENGTH],
        force_random_password=True,
        provider=identity.provider,
        extern_uid=identity.uid,
    )
    try:
        return create_user(db, params, None, vouched_for=True)
    except (Invalid, Conflict):
        raise Denied("Your account could not be created. Ask an administrator for one.") from None


def _free_username(db: Connection, wanted: str) -> str:
    """Return a free username similar to this one, with a number appended if it is taken."""
    stem = _INVALID_IN_USERNAME.sub("-", wanted)[:_MAX_LENGTH].strip("-.") or "user"
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}{number}"
        if path_error(name) is None and user_by_username_or_none(db, name) is None:
            return name
    raise Denied("Your account could not be created. Ask an administrator for one.")


def link_identity(db: Connection, user: User, identity: ProviderIdentity) -> None:
    """Link an identity to the account of a signed-in user; raise ``Conflict`` if either is linked already."""
    owner = identity_owner_or_none(db, identity.provider, identity.uid)
    if owner == user.id:
        return
    if owner is not None:
        raise Conflict("This identity is linked to another account")
    if any(held.provider == identity.provider for held in identities_by_user(db, [user.id]).get(user.id, ())):
        raise Conflict("Your account is linked to another identity of this provider. Unlink it first")
    db.insert(identities, user_id=user.id, provider=identity.provider, extern_uid=identity.uid)


def unlink_identity(db: Connection, user: User, provider: str) -> None:
    """Unlink the identities of a provider; raise ``Conflict`` if the user could not sign in any more."""
    held = identities_by_user(db, [user.id]).get(user.id, [])
    remaining = [each for each in held if each.provider != provider]
    if len(remaining) == len(held):
        raise NotFound("Identity")
    if not remaining and find_user(db, user.id).password_hash is None:
        raise Conflict("This is your only way to sign in. Set a password first")
    for each in held:
        if each.provider == provider:
            db.delete(identities, each.id)
