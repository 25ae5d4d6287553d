"""Whom a service sends mail to."""

import re

from ingot.errors import Invalid, too_long
from ingot.users.accounts.service import valid_address

MOST = 100
_BETWEEN = re.compile(r"[\s,;]+")


def recipients_of(text: str) -> list[str]:
    """The addresses in a text, however they are separated, each once."""
    return list(dict.fromkeys(part for part in _BETWEEN.split(text) if part))


def refuse_recipients(text: str) -> None:
    """Refuse what no mail can be sent to."""
    found = recipients_of(text)
    if not found or not all(valid_address(each) for each in found):
        raise Invalid(recipients=["is invalid"])
    if len(found) > MOST:
        raise Invalid(recipients=[too_long(MOST, "addresses")])
