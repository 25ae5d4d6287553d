"""How users' further addresses are found and listed."""

from sqlalchemy import bindparam, select

from ingot.accounts.users.tables import Email, emails
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.errors import NotFound

_OF_USER = select(emails).where(emails.c.user_id == bindparam("user"))
_ONE_OF_USER = _OF_USER.where(emails.c.id == bindparam("email"))
_LIST = list_query(_OF_USER, emails.c.id, emails.c.id.asc())


def list_emails(db: Connection, user_id: int, page: Page) -> Listing[Email]:
    """A page of the user's further addresses, the oldest first."""
    return fetch_page(db, Email, _LIST, page, user=user_id)


def email_or_none(db: Connection, user_id: int, email_id: int) -> Email | None:
    """The address with this number, if it is the user's."""
    return db.first(Email, _ONE_OF_USER, user=user_id, email=email_id)


def find_email(db: Connection, user_id: int, email_id: int) -> Email:
    """The same; somebody else's looks like one that is not there."""
    email = email_or_none(db, user_id, email_id)
    if email is None:
        raise NotFound("Email")
    return email
