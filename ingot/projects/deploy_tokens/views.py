"""What callers see of deploy tokens; the secret itself only once, in the answer that made it."""

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.deploy_tokens.tables import DeployToken


class DeployTokenView(View):
    """A deploy token; one that was revoked is gone altogether."""

    id: int
    name: str
    username: str
    expires_at: Timestamp | None
    scopes: list[str]
    expired: bool
    active: bool
    revoked: bool = False
    token: str | UnsetType = UNSET


def deploy_token_view(token: DeployToken, now: Timestamp, secret: str | UnsetType = UNSET) -> DeployTokenView:
    """The token, with its secret where that was just made."""
    expired = token.expired(now)
    return DeployTokenView(
        token.id,
        token.name,
        token.username,
        token.expires_at,
        token.scopes.split(),
        expired,
        not expired,
        token=secret,
    )
