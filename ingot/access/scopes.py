"""What a token may be limited to. A call that no scope of the token reaches is refused, whatever its user may do."""

from typing import Literal, get_args

from ingot.access.actor import Actor

Scope = Literal["api", "read_user", "read_api", "read_repository", "write_repository", "sudo"]
SCOPES: tuple[str, ...] = get_args(Scope)

READING = frozenset({"api", "read_api"})
READING_USERS = READING | {"read_user"}
WRITING = frozenset({"api"})
ANY_SCOPE = frozenset(SCOPES)


def within_scope(actor: Actor, needed: frozenset[str]) -> bool:
    """Whether the caller's credential reaches a call that any one of ``needed`` opens."""
    return actor.scopes is None or not actor.scopes.isdisjoint(needed)
