"""Request parameters of protection rules."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params
from ingot.packages.protection.levels import PushLevel
from ingot.packages.records.tables import PackageType

NamePattern = Annotated[str, Meta(min_length=1, max_length=255)]


class CreatePackageRule(Params):
    """New protection rule of packages."""

    package_name_pattern: NamePattern
    package_type: PackageType
    minimum_access_level_for_push: PushLevel | None = None
    minimum_access_level_for_delete: PushLevel | None = None


class EditPackageRule(Params):
    """Changes of a protection rule of packages."""

    package_name_pattern: NamePattern | UnsetType = UNSET
    package_type: PackageType | UnsetType = UNSET
    minimum_access_level_for_push: PushLevel | UnsetType | None = UNSET
    minimum_access_level_for_delete: PushLevel | UnsetType | None = UNSET
