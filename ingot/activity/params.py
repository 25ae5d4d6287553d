"""Request parameters of activity events."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Date

Action = Literal[
    "created",
    "updated",
    "closed",
    "reopened",
    "pushed",
    "commented",
    "merged",
    "joined",
    "left",
    "destroyed",
    "expired",
    "approved",
]
TargetType = Literal["issue", "milestone", "merge_request", "note", "project", "snippet", "user", "wiki", "design"]


class ListActivityEvents(Params):
    """Filters of events; ``before`` and ``after`` exclude the days themselves."""

    action: Action | None = None
    target_type: TargetType | None = None
    before: Date | None = None
    after: Date | None = None
    sort: Literal["asc", "desc"] = "desc"


class ListOwnActivityEvents(ListActivityEvents):
    """Filters of the caller's events; ``all`` includes the events of others in the caller's projects."""

    scope: Literal["all"] | None = None
