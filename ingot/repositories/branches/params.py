"""Request parameters of branches."""

from typing import Literal

from ingot.core.api.params import Params


class ListBranches(Params):
    """Filter and order; ``regex`` is not supported, since a caller's pattern could take unbounded time."""

    search: str | None = None
    sort: Literal["name_asc", "updated_asc", "updated_desc"] | None = None


class ProtectBranch(Params):
    """Permissions of developers on a protected branch; omitted values stay unchanged."""

    developers_can_push: bool | None = None
    developers_can_merge: bool | None = None


class CreateBranch(Params):
    """A new branch and the ref or commit at which it starts."""

    branch: str
    ref: str
