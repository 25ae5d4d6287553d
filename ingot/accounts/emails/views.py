"""Response structs of secondary email addresses."""

from ingot.accounts.users.tables import Email
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class EmailView(View):
    """A secondary email address of a user."""

    id: int
    email: str
    confirmed_at: Timestamp | None


def email_view(email: Email) -> EmailView:
    """Return an email address; its user is known from the path."""
    return EmailView(email.id, email.email, email.confirmed_at)
