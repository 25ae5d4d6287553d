"""What callers send about branches."""

from typing import Literal

from ingot.core.api.params import Params


class ListBranches(Params):
    """Which branches; ``regex`` is left out on purpose, since a caller's pattern could keep us busy for ever."""

    search: str | None = None
    sort: Literal["name_asc", "updated_asc", "updated_desc"] | None = None


class ProtectBranch(Params):
    """What developers can do with a protected branch; what is not said stays as it is."""

    developers_can_push: bool | None = None
    developers_can_merge: bool | None = None


class CreateBranch(Params):
    """A new branch, and the branch, tag or commit that it begins at."""

    branch: str
    ref: str
