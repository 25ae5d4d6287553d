"""Request parameters of deploy tokens."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

DeployScope = Literal[
    "read_repository", "read_registry", "write_registry", "read_package_registry", "write_package_registry"
]


class ListDeployTokens(Params):
    """Filter of the list of deploy tokens."""

    active: bool | None = None


class CreateDeployToken(Params):
    """New deploy token."""

    name: str
    scopes: list[DeployScope]
    expires_at: Timestamp | None = None
    username: str | None = None
