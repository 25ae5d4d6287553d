"""Response structs of secondary email addresses."""

from ingot.accounts.emails.queries import list_emails
from ingot.accounts.users.tables import Email
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Timestamp


class EmailView(View):
    """A secondary email address of a user."""

    id: int
    email: str
    confirmed_at: Timestamp | None


def email_view(email: Email) -> EmailView:
    """Return an email address; its user is known from the path."""
    return EmailView(email.id, email.email, email.confirmed_at)


def emails_of_user(db: Connection, user_id: int) -> list[Email]:
    """Return the further addresses of a user with all that their owner sees."""
    return list_emails(db, user_id, Page(size=100)).items
