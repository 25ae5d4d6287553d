"""What callers may send about tokens."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Date, Timestamp


class ListTokens(Params):
    """Filters of the lists."""

    state: Literal["all", "active", "inactive"] = "all"
    revoked: bool | None = None
    search: str = ""
    user_id: int | None = None
    created_before: Timestamp | None = None
    created_after: Timestamp | None = None


class CreateToken(Params):
    """A new token; which scopes exist is for the service to say."""

    name: str
    scopes: list[str]
    expires_at: Date | None = None
    description: str = ""


class RotateToken(Params):
    """How long the successor of a token lives; a week where it is not said."""

    expires_at: Date | UnsetType | None = UNSET
