"""Who may do what with tokens."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.users.tokens.tables import Token


def may_manage_token(actor: Actor, here: Access, token: Token) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Its user and administrators."""
    return actor.admin or token.user_id == actor.user_id
