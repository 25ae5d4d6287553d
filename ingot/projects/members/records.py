"""Rows that hold a user together with their place in a group or project."""

from ingot.core.db.schema import Record
from ingot.core.db.times import Date, Timestamp


class Member(Record, frozen=True):
    """A user as a member."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    access_level: int
    expires_at: Date | None
    created_at: Timestamp


class Requester(Record, frozen=True):
    """A user who would like to be one."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    requested_at: Timestamp
