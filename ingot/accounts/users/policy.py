"""Permissions on users."""

from ingot.accounts.users.details import user_details
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_see_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Signed-in users."""
    return actor.known


def may_see_profile(actor: Actor, user: User) -> bool:
    """Everyone, or administrators and the user themselves if the profile is private."""
    return actor.admin or actor.user_id == user.id or not user_details(user.details_document).private_profile


def may_see_followers(actor: Actor, access: Access, user: User) -> bool:
    """Signed-in users who may see the profile."""
    return may_see_user(actor, access, user) and may_see_profile(actor, user)


def may_follow_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Signed-in users, except the user themselves and bots."""
    return actor.known and actor.user_id != user.id and not actor.bot


def may_modify_user(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Administrators, except on the placeholder user."""
    return actor.admin and not user.placeholder


def may_grant_sign_in(actor: Actor) -> bool:
    """Administrators, but not through applications and impersonation tokens.

    Those have limited access for a limited time. A password that they set, or an administrator whom they create, would
    have more access and outlast it.
    """
    return actor.admin and actor.via not in ("oauth", "impersonation")
