"""Rules on the caller alone, and ``require`` for rules on a subject.

A rule is a plain function that a table of cases can test. Those of one subject live in their room's
``policy.py`` as ``may_*(actor, here, subject)``; these here need no subject, so the kernel asks them
before it reads a parameter or a row. ``ingot routes --access`` prints which rule guards what.
"""

from ingot.core.access.actor import Actor
from ingot.errors import Denied


def anyone(actor: Actor) -> bool:  # noqa: ARG001 - A rule takes the caller, and this one does not look.
    """Everybody, also without credentials."""
    return True


def signed_in(actor: Actor) -> bool:
    """Every user."""
    return actor.known


def administrators(actor: Actor) -> bool:
    """Administrators only."""
    return actor.admin


CALLER_RULES = (anyone, signed_in, administrators)


def require(allowed: bool, reason: str = "") -> None:
    """Go on only when a rule allowed it."""
    if not allowed:
        raise Denied(reason)
