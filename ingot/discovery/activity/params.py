"""What callers may send about what people did."""

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
    """Filters of the lists; ``before`` and ``after`` leave out the days themselves."""

    action: Action | None = None
    target_type: TargetType | None = None
    before: Date | None = None
    after: Date | None = None
    sort: Literal["asc", "desc"] = "desc"


class ListOwnActivityEvents(ListActivityEvents):
    """The same; with ``all``, what anybody did in the projects to which the caller belongs."""

    scope: Literal["all"] | None = None
