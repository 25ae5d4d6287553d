"""Who may do what with users."""

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_see_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Everybody who is signed in."""
    return actor.known


def may_follow_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Everybody but the user themselves."""
    return actor.known and actor.user_id != user.id


def may_modify_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Administrators; nobody changes the placeholder."""
    return actor.admin and not user.placeholder
