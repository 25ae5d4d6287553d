"""Request parameters of members."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Date


class ListMembers(Params):
    """Filters of the lists of members."""

    query: str = ""
    user_ids: list[int] | None = None


class AddMember(Params):
    """New member; the service checks the level."""

    user_id: int
    access_level: int
    expires_at: Date | None = None


class EditMember(Params):
    """Changed level; an omitted expiry date is left unchanged, an empty one removes it."""

    access_level: int
    expires_at: Date | UnsetType | None = UNSET


class ApproveRequest(Params):
    """Access level of the new member."""

    access_level: int = 30
