"""Permissions on tokens."""

from ingot.accounts.tokens.tables import AccessToken
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.scopes import SCOPES, may_grant_scopes
from ingot.core.db.times import Timestamp


def may_manage_token(actor: Actor, access: Access, token: AccessToken) -> bool:  # noqa: ARG001 - All rules take the same three.
    """The token's user and administrators."""
    return actor.admin or token.user_id == actor.user_id


def may_issue_tokens(actor: Actor) -> bool:
    """Users with a session, a private token or a personal access token.

    Applications, impersonators and bots have limited access for a limited time. A token that they issue would outlast
    it.
    """
    has_all_permissions = actor.restrictions.granular_scopes is None
    return actor.via in ("session", "private", "personal") and not actor.bot and has_all_permissions


def may_rotate_itself(actor: Actor) -> bool:
    """Users with a session or token of their own, and bots: their token is exchanged, not passed on."""
    return actor.via in ("session", "private", "personal")


def may_issue_bot_tokens(actor: Actor) -> bool:
    """Users who may issue tokens, and administrators with an impersonation token of a user.

    A token of a bot does not belong to the user whom they impersonate, and expires with theirs at the latest.
    """
    return may_issue_tokens(actor) or (actor.via == "impersonation" and not actor.bot)


def may_see_private_token(actor: Actor, expires_at: Timestamp | None) -> bool:
    """Callers whose credential is as powerful as the private token: not limited by scopes, and without an expiry."""
    return may_issue_tokens(actor) and may_grant_scopes(actor, SCOPES) and expires_at is None
