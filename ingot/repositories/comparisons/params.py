"""What callers may send to compare."""

from typing import Literal

import msgspec

from ingot.core.api.params import Params


class CompareRefs(Params):
    """From where to where; not straight is from where the two have parted."""

    from_ref: str = msgspec.field(name="from")
    to: str
    straight: bool = False
    from_project_id: int | None = None


class ListContributors(Params):
    """Whose history, and in which order; without one, whoever wrote last comes first."""

    ref: str = ""
    order_by: Literal["name", "email", "commits"] | None = None
    sort: Literal["asc", "desc"] = "asc"


class GetMergeBase(Params):
    """Two references or more."""

    refs: list[str]
