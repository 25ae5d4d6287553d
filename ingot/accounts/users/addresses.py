"""Email addresses: several users may claim one, and the user who proves it gets it.

A claim is a primary or secondary address of a user. It is proven by a link in an email, by an administrator or by an
identity provider. A proven claim excludes all others. An unproven one does not keep other users from proving theirs.
"""

import re
import secrets
from typing import Literal

from sqlalchemy import bindparam, delete, select

from ingot.accounts.users.details import edited_user_details, user_details
from ingot.accounts.users.events import PrimaryEmailChanged
from ingot.accounts.users.tables import Email, User, emails, users
from ingot.core.db.connection import Connection
from ingot.core.db.schema import Record
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES

MAX_LENGTH = 255
UNKNOWN_DOMAIN = "unverified.invalid"
"""Domain of the primary address of users without one; no mail is sent to it."""
Availability = Literal["free", "contested", "taken"]
_ADDRESS = re.compile(r"[^@\s,;<>\"']+@[^@\s,;<>\"']+")
_PRIMARY = select(users.c.id, users.c.confirmed_at, users.c.proven_at).where(users.c.email == bindparam("address"))
_SECONDARY = select(emails).where(emails.c.email == bindparam("address")).order_by(emails.c.id)
_OF_USER = (
    select(emails)
    .where(emails.c.user_id == bindparam("user"), emails.c.confirmed_at.is_not(None))
    .order_by(emails.c.proven_at.is_(None), emails.c.id)
)
_PROVEN = select(emails.c.email).where(emails.c.user_id == bindparam("user"), emails.c.proven_at.is_not(None))
_CONFIRMED = (
    select(emails.c.email)
    .where(emails.c.user_id == bindparam("user"), emails.c.confirmed_at.is_not(None))
    .order_by(emails.c.id)
)
_DETAILS = select(users.c.details_document).where(users.c.id == bindparam("user"))
_HIDE_PUBLIC_EMAIL = (
    users.update()
    .where(users.c.id == bindparam("user"), users.c.public_email == bindparam("address"))
    .values(public_email="")
)
_DROP_CLAIM = delete(emails).where(emails.c.user_id == bindparam("user"), emails.c.email == bindparam("address"))


class AddressClaim(Record, frozen=True):
    """A claim of a user to an address, as the primary one or (with ``email_id``) as a secondary one."""

    user_id: int
    confirmed_at: Timestamp | None
    proven_at: Timestamp | None
    email_id: int | None = None

    @property
    def in_use(self) -> bool:
        """Return whether the claim is proven, or the primary address of an account that can sign in."""
        return self.proven_at is not None or (self.email_id is None and self.confirmed_at is not None)


class _PrimaryClaim(Record, frozen=True):
    user_id: int
    confirmed_at: Timestamp | None
    proven_at: Timestamp | None


def is_valid_email(address: str) -> bool:
    """Check whether a text is a plausible email address."""
    return len(address) <= MAX_LENGTH and _ADDRESS.fullmatch(address) is not None


def claims_to_address(db: Connection, address: str) -> list[AddressClaim]:
    """List the claims to an address in lower case, the primary one first."""
    primary = db.all(_PrimaryClaim, _PRIMARY, address=address)
    secondary = db.all(Email, _SECONDARY, address=address)
    return [
        *(AddressClaim(claim.user_id, claim.confirmed_at, claim.proven_at) for claim in primary),
        *(AddressClaim(email.user_id, email.confirmed_at, email.proven_at, email.id) for email in secondary),
    ]


def address_availability(db: Connection, address: str, user_id: int = 0, *, vouched_for: bool = False) -> Availability:
    """Return whether a user can have an address, besides the user's own claims.

    A contested address needs a proof. An administrator or identity provider who vouches for it is such a proof, except
    against an account that is in use.
    """
    others = [claim for claim in claims_to_address(db, address) if claim.user_id != user_id]
    if any(claim.proven_at is not None or (vouched_for and claim.in_use) for claim in others):
        return "taken"
    return "contested" if others and not vouched_for else "free"


def release_address(db: Connection, address: str, user_id: int = 0) -> None:
    """Drop the unproven claims of all other users to an address that is now proven by a user."""
    for claim in claims_to_address(db, address):
        if claim.user_id == user_id:
            continue
        db.must_hold_part(NAMESPACES)
        if claim.email_id is None:
            _replace_primary(db, claim.user_id)
        else:
            db.delete(emails, claim.email_id)
        stop_using_address(db, claim.user_id, address)


def _replace_primary(db: Connection, user_id: int) -> None:
    """Give a user who lost the primary address the best of the others, or none."""
    other = db.first(Email, _OF_USER, user=user_id)
    if other is None:
        columns = {"email": unknown_address(), "proven_at": None}
    else:
        db.delete(emails, other.id)
        columns = {"email": other.email, "proven_at": other.proven_at}
    db.update(users, user_id, **columns, updated_at=db.now)
    emit(db, PrimaryEmailChanged(user_id=user_id))


def unknown_address() -> str:
    """Return a unique primary address for a user without one."""
    return f"{secrets.token_hex(8)}@{UNKNOWN_DOMAIN}"


def bot_address(username: str) -> str:
    """Return the primary address of a bot, which leads to no mailbox; it marks the bot's commits."""
    return f"{username}@{UNKNOWN_DOMAIN}"


def has_address(user: User) -> bool:
    """Return whether a user has a primary address."""
    return not user.email.endswith(f"@{UNKNOWN_DOMAIN}")


def adopt_address(db: Connection, user: User, address: str) -> None:
    """Make an address that was just proven the primary one of a user without one, who can then sign in."""
    db.run(_DROP_CLAIM, user=user.id, address=address)
    db.update(users, user.id, email=address, confirmed_at=db.now, proven_at=db.now, updated_at=db.now)


def confirmed_addresses(db: Connection, user_id: int) -> list[str]:
    """Return the confirmed secondary addresses of a user, the oldest first."""
    return [email for (email,) in db.rows(_CONFIRMED, user=user_id)]


def stop_using_address(db: Connection, user_id: int, address: str) -> None:
    """Stop showing an address that the user no longer has, and naming it in commits."""
    db.run(_HIDE_PUBLIC_EMAIL, user=user_id, address=address)
    for (document,) in db.rows(_DETAILS, user=user_id):
        if user_details(document).commit_email == address:
            db.update(users, user_id, details_document=edited_user_details(document, {"commit_email": None}))


def require_own_public_email(db: Connection, address: str, user: User | None, primary: str, *, proven: bool) -> None:
    """Raise Invalid unless an address is a verified one of the user, whose ``primary`` address may just change."""
    owned = {primary} if proven else set()
    if user is not None:
        owned |= {email for (email,) in db.rows(_PROVEN, user=user.id)}
    if address and address not in owned:
        raise Invalid(public_email=["is not an email you own"])
