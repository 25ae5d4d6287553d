"""Request parameters of group shares."""

from typing import Literal

from ingot.core.access.levels import LevelNumber
from ingot.core.api.params import Params
from ingot.core.db.times import Date


class ShareGroup(Params):
    """Invited group, its maximum level and the expiry date."""

    group_id: int
    group_access: int
    expires_at: Date | None = None


class ListInvitedGroups(Params):
    """Filters of the list of invited groups."""

    search: str = ""
    min_access_level: LevelNumber | None = None
    relation: list[Literal["direct", "inherited"]] | None = None
