"""Adding and removing users' further addresses."""

from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.events.bus import emit
from ingot.instance.settings import current_settings
from ingot.users.accounts.events import EmailAdded, FirstAddressChanged
from ingot.users.accounts.queries import user_by_email
from ingot.users.accounts.service import valid_address
from ingot.users.accounts.tables import Email, User, emails, users
from ingot.users.emails.queries import find_email


def create_email(db: Connection, user_id: int, address: str, *, vouched_for: bool = False) -> Email:
    """Give a user a further address; whoever holds it already, as the first or a further one, keeps it.

    An instance that asks nobody to confirm an address takes this one as confirmed too.
    """
    address = address.strip().lower()
    if not address:
        raise Invalid(email=["can't be blank"])
    if not valid_address(address):
        raise Invalid(email=["is invalid"])
    if user_by_email(db, address) is not None:
        raise Invalid(email=["has already been taken"])
    confirmed = vouched_for or not current_settings(db).send_user_confirmation_email
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
    return find_email(db, user_id, email_id)


def delete_email(db: Connection, email: Email) -> None:
    """Take a further address from its user; it is free for others at once."""
    db.delete(emails, email.id)


def make_first(db: Connection, user: User, email: Email) -> None:
    """Let a further address be the first one; the one before becomes a further one."""
    if email.confirmed_at is None:
        raise Invalid(email=["must be confirmed first"])
    db.update(emails, email.id, email=user.email, confirmed_at=user.confirmed_at, proven_at=user.proven_at)
    first = {"email": email.email, "confirmed_at": email.confirmed_at, "proven_at": email.proven_at}
    db.update(users, user.id, **first, updated_at=db.now)
    emit(db, FirstAddressChanged(user_id=user.id))
