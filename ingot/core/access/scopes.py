"""What a token may be limited to. A call that no scope of the token reaches is refused, whatever its user may do."""

from typing import Literal, get_args

from ingot.core.access.actor import Actor

Scope = Literal["api", "read_user", "read_api", "read_repository", "write_repository", "sudo"]
SCOPES: tuple[str, ...] = get_args(Scope)
# By these an application learns who somebody is; they open no call of the API.
IDENTITY_SCOPES = ("openid", "profile", "email")
OAUTH_SCOPES = (*SCOPES, *IDENTITY_SCOPES)
# What an application may ask for where nobody said: all that ``api`` opens, and who somebody is.
DEFAULT_OAUTH_SCOPES = ("api", "read_user", *IDENTITY_SCOPES)

READ_SCOPES = frozenset({"api", "read_api"})
READ_USER_SCOPES = READ_SCOPES | {"read_user"}
WRITE_SCOPES = frozenset({"api"})
ANY_SCOPE = frozenset(SCOPES)


def has_any_scope(actor: Actor, scopes: frozenset[str]) -> bool:
    """Whether the caller's credential reaches a call that any one of ``needed`` opens."""
    return actor.scopes is None or not actor.scopes.isdisjoint(scopes)
