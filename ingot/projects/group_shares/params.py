"""What callers may send about shares of groups."""

from typing import Literal

from ingot.core.access.levels import LevelNumber
from ingot.core.api.params import Params
from ingot.core.db.times import Date


class ShareGroup(Params):
    """With whom, at most at which level, until when."""

    group_id: int
    group_access: int
    expires_at: Date | None = None


class ListInvitedGroups(Params):
    """Filters of the groups that were invited."""

    search: str = ""
    min_access_level: LevelNumber | None = None
    relation: list[Literal["direct", "inherited"]] | None = None
