"""Request parameters of invitations."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Date


class Invite(Params):
    """Email addresses and users to invite, each as a list or separated by commas."""

    access_level: int
    email: list[str] | None = None
    user_id: list[int] | None = None
    expires_at: Date | None = None


class ListInvitations(Params):
    """Filter of the list of invitations."""

    query: str = ""


class EditInvitation(Params):
    """Changed level or expiry date of an invitation; an empty date removes it."""

    access_level: int | UnsetType = UNSET
    expires_at: Date | UnsetType | None = UNSET
