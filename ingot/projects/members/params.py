"""What callers may send about members."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Date


class ListMembers(Params):
    """Filters of the lists."""

    query: str = ""
    user_ids: list[int] | None = None


class AddMember(Params):
    """A new member; which levels there are is for the service to say."""

    user_id: int
    access_level: int
    expires_at: Date | None = None


class EditMember(Params):
    """Another level; an end that is not sent stays, an emptied one goes."""

    access_level: int
    expires_at: Date | UnsetType | None = UNSET


class ApproveRequest(Params):
    """At which level."""

    access_level: int = 30
