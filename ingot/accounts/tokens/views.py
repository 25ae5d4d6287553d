"""What callers see of tokens; the secret itself only once, in the answer that made it."""

from msgspec import UNSET, UnsetType

from ingot.accounts.tokens.tables import AccessToken
from ingot.core.api.views import View
from ingot.core.db.times import Date, Timestamp, day_of


class TokenView(View):
    """A personal access token, or one by which administrators act as a user."""

    id: int
    name: str
    revoked: bool
    created_at: Timestamp
    scopes: list[str]
    active: bool
    expires_at: Date | None
    user_id: int
    last_used_at: Timestamp | None
    impersonation: bool | UnsetType = UNSET
    token: str | UnsetType = UNSET


def token_view(token: AccessToken, now: Timestamp, secret: str | UnsetType = UNSET) -> TokenView:
    """The token, with its secret where that was just made."""
    return TokenView(
        token.id,
        token.name,
        token.revoked,
        token.created_at,
        token.scopes.split(),
        token.active(now),
        day_of(token.expires_at) if token.expires_at else None,
        token.user_id,
        token.last_used_at,
        True if token.kind == "impersonation" else UNSET,
        secret,
    )
