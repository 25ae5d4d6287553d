"""Whom a service sends mail to."""

import re

from ingot.accounts.users.service import is_valid_email
from ingot.errors import Invalid, too_long_message

MAX_RECIPIENTS = 100
_SEPARATORS = re.compile(r"[\s,;]+")


def parse_recipients(text: str) -> list[str]:
    """The addresses in a text, however they are separated, each once."""
    return list(dict.fromkeys(part for part in _SEPARATORS.split(text) if part))


def validate_recipients(text: str) -> None:
    """Refuse what no mail can be sent to."""
    found = parse_recipients(text)
    if not found or not all(is_valid_email(each) for each in found):
        raise Invalid(recipients=["is invalid"])
    if len(found) > MAX_RECIPIENTS:
        raise Invalid(recipients=[too_long_message(MAX_RECIPIENTS, "addresses")])
