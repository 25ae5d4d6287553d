"""Queries of secondary email addresses."""

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import bindparam, select

from ingot.accounts.users.tables import Email, emails
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_OF_USER = select(emails).where(emails.c.user_id == bindparam("user"))
_ONE_OF_USER = _OF_USER.where(emails.c.id == bindparam("email"))
_OF_USERS = select(emails).where(in_list(emails.c.user_id, "users")).order_by(emails.c.id)
_LIST = list_query(_OF_USER, emails.c.id, emails.c.id.asc())


def list_emails(db: Connection, user_id: int, page: Page) -> Listing[Email]:
    """List the user's secondary email addresses, the oldest first."""
    return fetch_page(db, Email, _LIST, page, user=user_id)


def emails_of_users(db: Connection, user_ids: Collection[int]) -> dict[int, list[Email]]:
    """Return the secondary email addresses of users by their ids, the oldest first, in one statement."""
    found: defaultdict[int, list[Email]] = defaultdict(list)
    for email in db.all(Email, _OF_USERS, users=sorted(user_ids)):
        found[email.user_id].append(email)
    return found


def email_or_none(db: Connection, user_id: int, email_id: int) -> Email | None:
    """Return the user's email address with this id."""
    return db.first(Email, _ONE_OF_USER, user=user_id, email=email_id)


def find_email(db: Connection, user_id: int, email_id: int) -> Email:
    """Return the user's email address with this id; raise NotFound otherwise."""
    email = email_or_none(db, user_id, email_id)
    if email is None:
        raise NotFound("Email")
    return email
