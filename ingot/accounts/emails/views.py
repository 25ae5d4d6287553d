"""What callers see of addresses."""

from ingot.accounts.users.tables import Email
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class EmailView(View):
    """A further address of a user."""

    id: int
    email: str
    confirmed_at: Timestamp | None


def email_view(email: Email) -> EmailView:
    """The address, without whose it is: the path said so."""
    return EmailView(email.id, email.email, email.confirmed_at)
