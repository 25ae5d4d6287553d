"""Permissions on users."""

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_see_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Signed-in users."""
    return actor.known


def may_follow_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Signed-in users, except the user themselves."""
    return actor.known and actor.user_id != user.id


def may_modify_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Administrators, except on the placeholder user."""
    return actor.admin and not user.placeholder
