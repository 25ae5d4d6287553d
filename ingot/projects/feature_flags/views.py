"""Response structs of feature flags, of lists of users, and of the flags for applications."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.feature_flags.queries import FlagDetails, flag_details, flags_of_project, instance_id, is_in_scope
from ingot.projects.feature_flags.strategies import USER_LIST
from ingot.projects.feature_flags.tables import FlagStrategy, ProjectFlag, UserList


class FlagScopeView(View):
    """Environments to which a strategy applies."""

    id: int
    environment_scope: str


class UserListBrief(View):
    """List of users of a strategy."""

    id: int
    iid: int
    name: str
    user_xids: str


class FlagStrategyView(View):
    """Condition under which a flag is enabled."""

    id: int
    name: str
    parameters: dict[str, str]
    scopes: list[FlagScopeView]
    user_list: UserListBrief | None


class FeatureFlagView(View):
    """Feature flag; ``scopes`` belongs to a version of GitLab before strategies and is empty."""

    name: str
    description: str | None
    active: bool
    version: str
    created_at: Timestamp
    updated_at: Timestamp
    scopes: list[FlagScopeView]
    strategies: list[FlagStrategyView]


class UserListView(View):
    """List of the users of an application."""

    id: int
    iid: int
    project_id: int
    created_at: Timestamp
    updated_at: Timestamp
    name: str
    user_xids: str


class UnleashStrategyView(View):
    """Strategy as clients of Unleash evaluate it."""

    name: str
    parameters: dict[str, str]


class UnleashFeatureView(View):
    """Flag as clients of Unleash read it."""

    name: str
    enabled: bool
    strategies: list[UnleashStrategyView]
    description: str | UnsetType = UNSET


class UnleashFeaturesView(View):
    """Flags of a project in one environment."""

    version: int
    features: list[UnleashFeatureView]


def user_list_view(user_list: UserList) -> UserListView:
    """Return the view of a list of users."""
    return UserListView(
        user_list.id,
        user_list.iid,
        user_list.project_id,
        user_list.created_at,
        user_list.updated_at,
        user_list.name,
        user_list.user_xids,
    )


def feature_flag_views(db: Connection, flags: list[ProjectFlag]) -> list[FeatureFlagView]:
    """Return the views of flags, with a fixed number of statements."""
    details = flag_details(db, flags)
    return [
        FeatureFlagView(
            flag.name,
            flag.description,
            flag.active,
            "new_version_flag",
            flag.created_at,
            flag.updated_at,
            [],
            [_strategy_view(strategy, details) for strategy in details.strategies.get(flag.id, [])],
        )
        for flag in flags
    ]


def _strategy_view(strategy: FlagStrategy, details: FlagDetails) -> FlagStrategyView:
    user_list = details.user_lists.get(strategy.user_list_id or 0)
    return FlagStrategyView(
        strategy.id,
        strategy.name,
        _parameters(strategy),
        [FlagScopeView(scope.id, scope.environment_scope) for scope in details.scopes.get(strategy.id, [])],
        None if user_list is None else UserListBrief(user_list.id, user_list.iid, user_list.name, user_list.user_xids),
    )


def _parameters(strategy: FlagStrategy) -> dict[str, Any]:
    return msgspec.json.decode(strategy.parameters, type=dict[str, str])


def unleash_features_view(db: Connection, project_id: int, environment: str) -> UnleashFeaturesView:
    """Return the flags with a strategy in an environment; a list of users is sent as the ids of its users."""
    flags = flags_of_project(db, project_id)
    details = flag_details(db, flags)
    features = []
    for flag in flags:
        strategies = [
            _unleash_strategy(strategy, details)
            for strategy in details.strategies.get(flag.id, [])
            if any(is_in_scope(scope, environment) for scope in details.scopes.get(strategy.id, []))
        ]
        if strategies:
            description = flag.description if flag.description is not None else UNSET
            features.append(UnleashFeatureView(flag.name, flag.active, strategies, description))
    return UnleashFeaturesView(1, features)


def _unleash_strategy(strategy: FlagStrategy, details: FlagDetails) -> UnleashStrategyView:
    if strategy.name != USER_LIST:
        return UnleashStrategyView(strategy.name, _parameters(strategy))
    user_list = details.user_lists.get(strategy.user_list_id or 0)
    return UnleashStrategyView("userWithId", {"userIds": "" if user_list is None else user_list.user_xids})


def client_instance_id(db: Connection, project_id: int) -> str:
    """Return the secret with which the applications of a project authenticate, for its maintainers."""
    return instance_id(db, project_id)
