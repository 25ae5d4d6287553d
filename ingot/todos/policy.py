"""Who may note what they have to look at."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.subjects import Reached


def may_mark(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users who see it: a todo is their own affair."""
    return actor.known
