"""Permissions on tokens."""

from ingot.accounts.tokens.tables import AccessToken
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_manage_token(actor: Actor, access: Access, token: AccessToken) -> bool:  # noqa: ARG001 - All rules take the same three.
    """The token's user and administrators."""
    return actor.admin or token.user_id == actor.user_id
