"""What callers may send about deploy tokens."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

DeployScope = Literal[
    "read_repository", "read_registry", "write_registry", "read_package_registry", "write_package_registry"
]


class ListDeployTokens(Params):
    """Whether only those that still open something."""

    active: bool | None = None


class CreateDeployToken(Params):
    """A new deploy token."""

    name: str
    scopes: list[DeployScope]
    expires_at: Timestamp | None = None
    username: str | None = None
