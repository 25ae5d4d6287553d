"""Request parameters of protected environments."""

from typing import Any, Literal, get_args

from msgspec import UNSET, UnsetType, field

from ingot.core.api.params import Params
from ingot.projects.environments.tables import Tier

DeployLevel = Literal[30, 40, 60]
"""Developers, maintainers, administrators."""
TIERS: tuple[str, ...] = get_args(Tier)
"""Names of protected environments of groups."""


class DeployAccessEntry(Params):
    """A role, a user or a group that may deploy; ``group_inheritance_type`` 1 includes inherited members of a group."""

    access_level: DeployLevel | None = None
    user_id: int | None = None
    group_id: int | None = None
    group_inheritance_type: Literal[0, 1] | UnsetType = UNSET
    id: int | None = None
    destroy: bool = field(default=False, name="_destroy")


class ProtectEnvironment(Params):
    """A new protected environment; approvals are refused."""

    name: str
    deploy_access_levels: list[DeployAccessEntry]
    required_approval_count: int = 0
    approval_rules: list[Any] | None = None


class EditProtectedEnvironment(Params):
    """Changes of a protected environment; approvals are refused."""

    deploy_access_levels: list[DeployAccessEntry] | None = None
    required_approval_count: int = 0
    approval_rules: list[Any] | None = None
