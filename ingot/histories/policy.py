"""Who reads what became of things."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.subjects import Reached


def may_read_history(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Whoever was let find the thing."""
    return True
