"""Response structs of deploy tokens; only the response to the creation contains the secret."""

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.deploy_tokens.tables import DeployToken


class DeployTokenView(View):
    """Deploy token; ``revoked`` is always false because revoked tokens are deleted."""

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
    """Return the view of a token, with its secret if it was just created."""
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
