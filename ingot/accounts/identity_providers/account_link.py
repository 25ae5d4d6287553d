"""From somebody whom a provider knows to the account that they have here."""

import re

import msgspec
from sqlalchemy import bindparam, exists, select

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.queries import (
    find_user,
    identities_by_user,
    identity_owner_or_none,
    user_by_email_or_none,
    user_by_username_or_none,
)
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import User, emails, identities
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES, path_error
from ingot.errors import Conflict, Denied, Invalid, NotFound

_FORBIDDEN_CHARACTERS = re.compile(r"[^A-Za-z0-9_.-]+")
_CONFIRMED_ADDRESSES = select(
    exists().where(
        emails.c.user_id == bindparam("user"),
        emails.c.email == bindparam("address"),
        emails.c.proven_at.is_not(None),
    )
)
_MAX_LENGTH = 200


class ProviderIdentity(msgspec.Struct, frozen=True):
    """Somebody as a provider describes them."""

    provider: str
    uid: str
    username: str
    name: str
    email: str
    """Empty, unless the provider says that it is proven."""


def find_or_create_account(db: Connection, known: ProviderIdentity, *, sign_up: bool, link_by_email: bool) -> User:
    """The account that belongs to somebody: by who they are there, by their address, or a new one.

    The lock of names must be held. What is not allowed is refused with a sentence for whoever signs in.
    """
    db.must_hold(NAMESPACES)
    owner = identity_owner_or_none(db, known.provider, known.uid)
    if owner is not None:
        return find_user(db, owner)
    if not known.email:
        raise Denied("The provider names no proven e-mail address for you.")
    holder = user_by_email_or_none(db, known.email)
    if holder is not None:
        if not link_by_email or not _is_address_confirmed(db, holder, known.email):
            raise Denied("An account here has your e-mail address already. Ask an administrator to link the two.")
        if any(held.provider == known.provider for held in identities_by_user(db, [holder.id]).get(holder.id, ())):
            raise Denied("The account with your e-mail address belongs to somebody else there.")
        db.insert(identities, user_id=holder.id, provider=known.provider, extern_uid=known.uid)
        return holder
    if not sign_up:
        raise Denied("You have no account here. Ask an administrator for one.")
    return _create(db, known)


def _is_address_confirmed(db: Connection, holder: User, address: str) -> bool:
    """Whether an account's address was proven: else somebody waits in an account that they made for another.

    Where no mail asks to confirm addresses, everybody may have given themselves this one; what they took as long as
    that was so stays unproven.
    """
    if holder.placeholder or not current_settings(db).send_user_confirmation_email:
        return False
    if holder.email == address.lower():
        return holder.proven_at is not None
    return bool(db.value(_CONFIRMED_ADDRESSES, user=holder.id, address=address.lower()))


def _create(db: Connection, known: ProviderIdentity) -> User:
    username = _available_username(db, known.username or known.email.partition("@")[0])
    wanted = CreateUser(
        email=known.email,
        username=username,
        name=(known.name or username)[:_MAX_LENGTH],
        force_random_password=True,
        provider=known.provider,
        extern_uid=known.uid,
    )
    try:
        return create_user(db, wanted, None, vouched_for=True)
    except (Invalid, Conflict):
        raise Denied("An account for you cannot be made. Ask an administrator for one.") from None


def _available_username(db: Connection, wanted: str) -> str:
    """A username like the one there; where it cannot be had, with a number behind it."""
    stem = _FORBIDDEN_CHARACTERS.sub("-", wanted)[:_MAX_LENGTH].strip("-.") or "user"
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}{number}"
        if path_error(name) is None and user_by_username_or_none(db, name) is None:
            return name
    raise Denied("An account for you cannot be made. Ask an administrator for one.")


def link_identity(db: Connection, user: User, known: ProviderIdentity) -> None:
    """Let somebody who is signed in come in by a provider too, from now on."""
    owner = identity_owner_or_none(db, known.provider, known.uid)
    if owner == user.id:
        return
    if owner is not None:
        raise Conflict("Another account here belongs to who you are there")
    if any(held.provider == known.provider for held in identities_by_user(db, [user.id]).get(user.id, ())):
        raise Conflict("Your account belongs to somebody else there already. Unlink that first")
    db.insert(identities, user_id=user.id, provider=known.provider, extern_uid=known.uid)


def unlink_identity(db: Connection, user: User, provider: str) -> None:
    """Let them come in by it no more; nobody locks themselves out."""
    held = identities_by_user(db, [user.id]).get(user.id, [])
    left = [each for each in held if each.provider != provider]
    if len(left) == len(held):
        raise NotFound("Identity")
    if not left and find_user(db, user.id).password_hash is None:
        raise Conflict("It is the only way to sign in that you have. Choose a password first")
    for each in held:
        if each.provider == provider:
            db.delete(identities, each.id)
