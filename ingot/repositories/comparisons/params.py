"""Request parameters of comparisons."""

from typing import Literal

import msgspec

from ingot.core.api.params import Params


class CompareRefs(Params):
    """Refs to compare; starts at their merge base unless ``straight`` is set."""

    from_ref: str = msgspec.field(name="from")
    to: str
    straight: bool = False
    from_project_id: int | None = None


class ListContributors(Params):
    """Ref and order; the default order is by most recent commit."""

    ref: str = ""
    order_by: Literal["name", "email", "commits"] | None = None
    sort: Literal["asc", "desc"] = "asc"


class GetMergeBase(Params):
    """Two or more refs."""

    refs: list[str]
