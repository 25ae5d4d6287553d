"""Response structs of project and group access tokens; the secret is included only when it was just created."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.accounts.tokens.tables import AccessToken
from ingot.accounts.tokens.views import mcp_tools_of
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, Timestamp, day_of
from ingot.projects.access_tokens.queries import bots_by_user
from ingot.projects.access_tokens.tables import TokenBot


class ResourceTokenView(View):
    """An access token of a project or group; ``user_id`` is that of its bot."""

    id: int
    name: str
    revoked: bool
    created_at: Timestamp
    description: str | None
    scopes: list[str]
    user_id: int
    last_used_at: Timestamp | None
    active: bool
    expires_at: Date | None
    access_level: int
    resource_type: str
    resource_id: int
    token: str | UnsetType = UNSET
    mcp_tools: list[str] | UnsetType = UNSET


def resource_token_view(
    token: AccessToken, bot: TokenBot, now: Timestamp, secret: str | UnsetType = UNSET
) -> ResourceTokenView:
    """Return a token, with its secret if it was just created."""
    return ResourceTokenView(
        token.id,
        token.name,
        token.revoked,
        token.created_at,
        bot.description or None,
        token.scopes.split(),
        token.user_id,
        token.last_used_at,
        token.active(now),
        day_of(token.expires_at) if token.expires_at else None,
        bot.access_level,
        "project" if bot.group_id is None else "group",
        bot.project_id or bot.group_id or 0,
        secret,
        mcp_tools_of(token),
    )


def resource_token_views(db: Connection, tokens: Sequence[AccessToken]) -> list[ResourceTokenView]:
    """Return several tokens; one statement reads their bots."""
    bots = bots_by_user(db, [token.user_id for token in tokens])
    return [resource_token_view(token, bots[token.user_id], db.now) for token in tokens]
