"""Records of users with their membership or access request."""

from ingot.core.db.schema import Record
from ingot.core.db.times import Date, Timestamp


class Member(Record, frozen=True):
    """User with a membership."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    bot: bool
    access_level: int
    expires_at: Date | None
    created_at: Timestamp


class Requester(Record, frozen=True):
    """User with an access request."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    bot: bool
    requested_at: Timestamp
