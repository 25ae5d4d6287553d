"""Request parameters of feature flags and lists of users."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from ingot.core.api.params import Params


class FlagScopeParams(Params):
    """A scope of a strategy; with ``id`` an existing one."""

    id: int | None = None
    environment_scope: str | None = None
    destroy: bool = field(default=False, name="_destroy")


class FlagStrategyParams(Params):
    """A strategy; with ``id`` an existing one."""

    id: int | None = None
    name: str | None = None
    parameters: dict[str, str] | UnsetType = UNSET
    scopes: list[FlagScopeParams] | None = None
    user_list_id: int | None = None
    destroy: bool = field(default=False, name="_destroy")


class CreateFeatureFlag(Params):
    """A new feature flag."""

    name: str
    version: Literal["new_version_flag"] | None = None
    description: str | None = None
    active: bool = True
    strategies: list[FlagStrategyParams] | None = None


class EditFeatureFlag(Params):
    """Changes of a feature flag."""

    name: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET
    strategies: list[FlagStrategyParams] | None = None


class ListFeatureFlags(Params):
    """Filter of the list of feature flags."""

    scope: Literal["enabled", "disabled"] | None = None


class ListUserLists(Params):
    """Filter of the list of user lists."""

    search: str = ""


class CreateUserList(Params):
    """A new list of users."""

    name: str
    user_xids: str


class EditUserList(Params):
    """Changes of a list of users."""

    name: str | UnsetType = UNSET
    user_xids: str | UnsetType = UNSET


class UnleashClient(Params):
    """Identification of an application; its name is that of the environment."""

    instance_id: str
    app_name: str = ""
