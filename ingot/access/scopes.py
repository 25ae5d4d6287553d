"""What a token may be limited to. A call that no scope of the token reaches is refused, whatever its user may do."""

from typing import Literal, get_args

from ingot.access.actor import Actor

Scope = Literal["api", "read_user", "read_api", "read_repository", "write_repository", "sudo"]
SCOPES: tuple[str, ...] = get_args(Scope)
# By these an application learns who somebody is; they open no call of the API.
IDENTITY_SCOPES = ("openid", "profile", "email")
OAUTH_SCOPES = (*SCOPES, *IDENTITY_SCOPES)
# What an application may ask for where nobody said: all that ``api`` opens, and who somebody is.
DEFAULT_OAUTH_SCOPES = ("api", "read_user", *IDENTITY_SCOPES)

READING = frozenset({"api", "read_api"})
READING_USERS = READING | {"read_user"}
WRITING = frozenset({"api"})
ANY_SCOPE = frozenset(SCOPES)


def within_scope(actor: Actor, needed: frozenset[str]) -> bool:
    """Whether the caller's credential reaches a call that any one of ``needed`` opens."""
    return actor.scopes is None or not actor.scopes.isdisjoint(needed)
