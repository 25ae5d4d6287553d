"""Permission rules on the caller alone, and ``require`` for rules on a subject.

A rule is a pure function that tests cover with tables of cases. Rules on a subject are defined in the ``policy.py`` of
its package as ``may_*(actor, access, subject)``. The rules in this module need no subject, so the endpoint kernel
checks them before it reads parameters or rows. ``ingot routes --access`` prints the rule of each endpoint.
"""

from ingot.core.access.actor import Actor
from ingot.core.errors import Denied


def anyone(actor: Actor) -> bool:  # noqa: ARG001 - The signature of a rule on the caller.
    """Everyone, including anonymous callers."""
    return True


def signed_in(actor: Actor) -> bool:
    """Every user."""
    return actor.known


def administrators(actor: Actor) -> bool:
    """Administrators only."""
    return actor.admin


CALLER_RULES = (anyone, signed_in, administrators)


def require(allowed: bool, reason: str = "") -> None:
    """Raise Denied unless a rule allowed the action."""
    if not allowed:
        raise Denied(reason)
