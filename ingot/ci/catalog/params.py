"""Request parameters of the CI/CD catalog."""

from typing import Any, Literal

from ingot.core.api.params import Params

ResourceSort = Literal[
    "name_asc",
    "name_desc",
    "latest_released_at_asc",
    "latest_released_at_desc",
    "created_asc",
    "created_desc",
    "star_count_asc",
    "star_count_desc",
    "usage_count_asc",
    "usage_count_desc",
]


class ListResources(Params):
    """Filters and order of the catalog; ``namespaces`` leaves the projects that the caller belongs to."""

    search: str = ""
    scope: Literal["all", "namespaces"] = "all"
    sort: ResourceSort = "star_count_desc"
    topics: list[str] | None = None
    group_ids: list[int] | None = None


class ListVersions(Params):
    """Filter of versions."""

    name: str = ""


class PublishVersion(Params):
    """The release to publish. Clients send ``metadata``, but the components are read from the repository."""

    version: str
    metadata: dict[str, Any] | None = None
