"""State changes of secondary email addresses."""

from sqlalchemy import bindparam, delete, select

from ingot.accounts.emails.queries import find_email
from ingot.accounts.instance.email_restrictions import address_error
from ingot.accounts.instance.settings import current_settings
from ingot.accounts.instance.throttles import count_within_limit
from ingot.accounts.users.addresses import (
    claims_to_address,
    has_address,
    is_valid_email,
    stop_using_address,
)
from ingot.accounts.users.events import AddressProven, EmailAdded, PrimaryEmailChanged
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.tables import Email, User, emails, users
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, Invalid
from ingot.core.events.bus import emit

UNCONFIRMED_DAYS = 3
_MAX_MAILS = 5
_MAIL_WINDOW_SECONDS = 600
_DELETE_UNCONFIRMED = delete(emails).where(
    emails.c.confirmed_at.is_(None),
    emails.c.created_at < bindparam("before"),
    emails.c.user_id.in_(select(users.c.id).where(users.c.confirmed_at.is_not(None))),
)


def create_email(
    db: Connection, user_id: int, address: str, *, vouched_for: bool = False, contest: bool = False
) -> Email:
    """Add a secondary email address; raise Invalid if any user has it, proven or not, or if it is restricted.

    With ``contest``, an address that no other user has proven is added as unconfirmed, and becomes the user's when they
    open the link that is sent to it. Otherwise it counts as confirmed at once if an administrator vouches for it, or if
    the instance requires no confirmation. Raises Denied for a bot, who could get a password by email and outlast its
    token.
    """
    if find_user(db, user_id).bot:
        raise Denied("Bot users cannot have email addresses")
    address = address.strip().lower()
    if not address:
        raise Invalid(email=["can't be blank"])
    if not is_valid_email(address):
        raise Invalid(email=["is invalid"])
    claims = claims_to_address(db, address)
    restriction = None if vouched_for else address_error(db, address)
    if restriction is not None:
        raise Invalid(email=[restriction])
    if any(claim.user_id == user_id or claim.proven_at is not None or not contest for claim in claims):
        raise Invalid(email=["has already been taken"])
    confirmed = vouched_for or not (claims or current_settings(db).send_user_confirmation_email)
    email_id = db.insert(
        emails,
        user_id=user_id,
        email=address,
        confirmed_at=db.now if confirmed else None,
        proven_at=db.now if vouched_for else None,
        created_at=db.now,
    )
    if not confirmed:
        emit(db, EmailAdded(email_id=email_id))
    if vouched_for:
        emit(db, AddressProven(user_id=user_id, address=address))
    return find_email(db, user_id, email_id)


def count_confirmation_mail(db: Connection, user_id: int) -> None:
    """Count a confirmation email that a user requests; raise Throttled above the limit, which prevents spam."""
    count_within_limit(db, f"confirmation mail of {user_id}", _MAX_MAILS, _MAIL_WINDOW_SECONDS)


def delete_email(db: Connection, email: Email) -> None:
    """Delete a secondary email address, which becomes available to other users."""
    db.delete(emails, email.id)
    stop_using_address(db, email.user_id, email.email)


def make_email_primary(db: Connection, user: User, email: Email) -> None:
    """Swap a confirmed secondary address with the primary one."""
    if email.confirmed_at is None:
        raise Invalid(email=["must be confirmed first"])
    if has_address(user):
        db.update(emails, email.id, email=user.email, confirmed_at=user.confirmed_at, proven_at=user.proven_at)
    else:
        db.delete(emails, email.id)
    primary_columns = {"email": email.email, "confirmed_at": email.confirmed_at, "proven_at": email.proven_at}
    db.update(users, user.id, **primary_columns, updated_at=db.now)
    emit(db, PrimaryEmailChanged(user_id=user.id))


def make_own_email_first(db: Connection, user_id: int, email_id: int) -> None:
    """Make a further address of a user the primary one."""
    make_email_primary(db, find_user(db, user_id), find_email(db, user_id, email_id))


def delete_unconfirmed_emails(db: Connection) -> None:
    """Delete the secondary addresses that were not confirmed in time, so that users cannot reserve those of others.

    An account that waits for the confirmation of its first address keeps it.
    """
    db.run(_DELETE_UNCONFIRMED, before=add_duration(db.now, days=-UNCONFIRMED_DAYS))
