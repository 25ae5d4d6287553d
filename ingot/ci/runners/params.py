"""Request parameters of runners."""

from typing import Literal

from ingot.core.api.params import Params

RunnerType = Literal["instance_type", "group_type", "project_type"]
RunnerStatus = Literal["online", "offline", "stale", "never_contacted", "active", "paused"]


class _Filters(Params):
    type: RunnerType | None = None
    status: RunnerStatus | None = None
    paused: bool | None = None
    tag_list: list[str] | None = None


class ListOwnRunners(_Filters):
    """Filters of the runners available to the caller."""

    scope: Literal["active", "paused", "online"] | None = None


class ListRunners(_Filters):
    """Filters of the runners of the instance, a project or a group."""

    scope: Literal["active", "paused", "online", "specific", "shared"] | None = None
