"""Restrictions of the token of a push, which its options carry to the process that applies them."""

from collections.abc import Sequence

from msgspec.structs import replace

from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import Actor
from ingot.core.access.restrictions import read_restrictions
from ingot.core.api.granular_permissions import with_permission
from ingot.core.api.responses import InsufficientScope
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied

KEPT_OPTIONS = ("ci.", "merge_request.", "mirror.")
"""Prefixes of the options that a client can send; others are dropped."""
TOKEN_OPTION = "token.restrictions="  # noqa: S105 - A name, not a secret.
"""Option that only the server adds."""


def restricted_options(actor: Actor, options: Sequence[str]) -> list[str]:
    """Return the options of a push with the restrictions of its token, if it has fine-grained permissions."""
    if not options or actor.restrictions.granular_scopes is None:
        return list(options)
    return [*options, f"{TOKEN_OPTION}{actor.restrictions.stored}"]


def pusher_or_none(db: Connection, user_id: int, options: Sequence[str]) -> Actor | None:
    """Return the user of a push with the restrictions of the token; None if the user is not active any more."""
    actor = active_actor(db, user_id)
    for option in options:
        if actor is not None and option.startswith(TOKEN_OPTION):
            actor = replace(actor, restrictions=read_restrictions(option.removeprefix(TOKEN_OPTION)))
    return actor


def with_push_permission(actor: Actor, permission: str) -> Actor:
    """Return the user of a push within the boundary of a permission; raise Denied if the token lacks it."""
    if actor.restrictions.granular_scopes is None:
        return actor
    try:
        return with_permission(actor, permission, "project")
    except InsufficientScope:
        raise Denied(f"The token lacks the permission {permission}.") from None
