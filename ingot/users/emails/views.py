"""What callers see of addresses."""

from ingot.api.views import View
from ingot.db.times import Timestamp
from ingot.users.accounts.tables import Email


class EmailView(View):
    """A further address of a user."""

    id: int
    email: str
    confirmed_at: Timestamp | None


def email_view(email: Email) -> EmailView:
    """The address, without whose it is: the path said so."""
    return EmailView(email.id, email.email, email.confirmed_at)
