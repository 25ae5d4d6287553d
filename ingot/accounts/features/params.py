"""Request parameters of feature flags."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params


class SetFeature(Params):
    """Value of a gate and its targets; without a target it applies to everyone."""

    value: str
    key: Literal["percentage_of_time"] = "percentage_of_time"
    feature_group: str | UnsetType = UNSET
    user: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET
    group: str | UnsetType = UNSET
    namespace: str | UnsetType = UNSET
    project: str | UnsetType = UNSET
    repository: str | UnsetType = UNSET
