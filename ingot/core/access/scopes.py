"""Token scopes. A request is denied if no scope of its token covers the endpoint, even if its user may call it."""

from collections.abc import Iterable
from typing import Literal, get_args

from ingot.core.access.actor import Actor
from ingot.core.access.restrictions import GRANULAR

Scope = Literal[
    "api",
    "read_user",
    "read_api",
    "read_repository",
    "write_repository",
    "read_registry",
    "write_registry",
    "create_runner",
    "manage_runner",
    "admin_mode",
    "k8s_proxy",
    "ai_features",
    "self_rotate",
    "mcp",
    "sudo",
]
SCOPES: tuple[str, ...] = get_args(Scope)
ADMIN_MODE = "admin_mode"
ADMINISTRATOR_SCOPES = ("sudo", ADMIN_MODE)
"""Scopes that have an effect for administrators only."""
SCOPES_WITHOUT_EFFECT = frozenset({"k8s_proxy", "ai_features"})
"""Scopes that are accepted from clients only; pages do not offer them."""
# OpenID Connect scopes: they give an application the user's identity, but no access to the API.
IDENTITY_SCOPES = ("openid", "profile", "email")
OAUTH_SCOPES = (*SCOPES, *IDENTITY_SCOPES)
# The scopes of an application registered without any.
DEFAULT_OAUTH_SCOPES = ("api", "read_user", *IDENTITY_SCOPES)

READ_SCOPES = frozenset({"api", "read_api"})
READ_USER_SCOPES = READ_SCOPES | {"read_user"}
WRITE_SCOPES = frozenset({"api"})
MCP_SCOPE = "mcp"
MCP_SCOPES = READ_SCOPES | {MCP_SCOPE}
"""Scopes for the Model Context Protocol: its own one gives the tools, and nothing else of the API."""
SELF_ROTATE_SCOPES = WRITE_SCOPES | {"self_rotate"}
CREATE_RUNNER_SCOPES = WRITE_SCOPES | {"create_runner"}
READ_RUNNER_SCOPES = READ_SCOPES | {"manage_runner"}
MANAGE_RUNNER_SCOPES = WRITE_SCOPES | {"manage_runner"}
ANY_SCOPE = frozenset((*SCOPES, GRANULAR))
# The scopes whose whole effect another scope includes. None includes "sudo".
_INCLUDED_SCOPES: dict[str, frozenset[str]] = {
    "api": frozenset(OAUTH_SCOPES) - {"sudo"},
    "read_api": frozenset({"read_user", *IDENTITY_SCOPES}),
    "read_user": frozenset(IDENTITY_SCOPES),
    "write_repository": frozenset({"read_repository"}),
    "write_registry": frozenset({"read_registry"}),
}


def may_grant_scopes(actor: Actor, scopes: Iterable[str]) -> bool:
    """Return whether the caller's credential includes all of ``scopes``, so that the caller may pass them on.

    Unknown scopes are ignored: validation rejects them with a message of its own.
    """
    if actor.scopes is None:
        return True
    included = actor.scopes.union(*(_INCLUDED_SCOPES.get(scope, frozenset()) for scope in actor.scopes))
    return all(scope in included for scope in scopes if scope in OAUTH_SCOPES)


def has_any_scope(actor: Actor, scopes: frozenset[str]) -> bool:
    """Return whether the caller's credential includes any of ``scopes``."""
    return actor.scopes is None or not actor.scopes.isdisjoint(scopes)
