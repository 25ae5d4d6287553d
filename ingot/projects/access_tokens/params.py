"""Request parameters of project and group access tokens."""

from typing import Literal

from ingot.accounts.tokens.params import CreateToken, ListTokens
from ingot.core.access.levels import LevelNumber
from ingot.core.db.times import Date, Timestamp


class ListResourceTokens(ListTokens):
    """Filters and order of the list."""

    expires_before: Date | None = None
    expires_after: Date | None = None
    last_used_before: Timestamp | None = None
    last_used_after: Timestamp | None = None
    sort: Literal[
        "created_asc",
        "created_desc",
        "expires_asc",
        "expires_desc",
        "last_used_asc",
        "last_used_desc",
        "name_asc",
        "name_desc",
    ] = "created_asc"


class CreateResourceToken(CreateToken):
    """A new token of a project or group; it expires after a year by default."""

    access_level: LevelNumber = 40
