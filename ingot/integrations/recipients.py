"""Email recipients of services."""

import re

from ingot.accounts.users.addresses import is_valid_email
from ingot.core.errors import Invalid, too_long_message

MAX_RECIPIENTS = 100
_SEPARATORS = re.compile(r"[\s,;]+")


def parse_recipients(text: str) -> list[str]:
    """Return the distinct email addresses in a text, separated by whitespace, commas or semicolons."""
    return list(dict.fromkeys(part for part in _SEPARATORS.split(text) if part))


def validate_recipients(text: str) -> None:
    """Raise Invalid if the text contains no addresses, invalid ones, or too many."""
    recipients = parse_recipients(text)
    if not recipients or not all(is_valid_email(recipient) for recipient in recipients):
        raise Invalid(recipients=["is invalid"])
    if len(recipients) > MAX_RECIPIENTS:
        raise Invalid(recipients=[too_long_message(MAX_RECIPIENTS, "addresses")])
