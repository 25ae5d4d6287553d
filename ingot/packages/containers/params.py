"""Request parameters of container repositories."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params
from ingot.packages.protection.levels import PushLevel

PathPattern = Annotated[str, Meta(min_length=1, max_length=255)]


class ListContainerRepositories(Params):
    """Details of listed repositories."""

    tags: bool = False
    tags_count: bool = False


class GetContainerRepository(Params):
    """Details of a repository."""

    tags: bool = False
    tags_count: bool = False
    size: bool = False


class DeleteContainerTags(Params):
    """Selection of the tags to delete."""

    name_regex_delete: str | None = None
    name_regex: str | None = None
    name_regex_keep: str | None = None
    keep_n: int | None = None
    older_than: str | None = None


class CreateContainerRule(Params):
    """New protection rule of container repositories."""

    repository_path_pattern: PathPattern
    minimum_access_level_for_push: PushLevel | None = None
    minimum_access_level_for_delete: PushLevel | None = None


class EditContainerRule(Params):
    """Changes of a protection rule of container repositories."""

    repository_path_pattern: PathPattern | UnsetType = UNSET
    minimum_access_level_for_push: PushLevel | UnsetType | None = UNSET
    minimum_access_level_for_delete: PushLevel | UnsetType | None = UNSET
