"""Access levels of members, and the caller's access to a project or group."""

from enum import IntEnum
from typing import Literal

import msgspec


class Level(IntEnum):
    """Access levels of members; the numbers are defined by the specification."""

    NONE = 0
    GUEST = 10
    REPORTER = 20
    DEVELOPER = 30
    MASTER = 40
    OWNER = 50


ROLE_NAMES = {10: "Guest", 20: "Reporter", 30: "Developer", 40: "Maintainer", 50: "Owner"}
"""Names of the levels that users see."""
LevelNumber = Literal[10, 20, 30, 40, 50]
"""A level that a member can have, as a number in the API."""


class Access(msgspec.Struct, frozen=True):
    """The caller's access to a project or group."""

    level: Level = Level.NONE
    inside: bool = False
    """Whether the caller is a member of a descendant, which makes its ancestors visible."""
    own: int | None = None
    """The caller's level as a direct member of the project; None if not a member."""
    group: int | None = None
    """The caller's level as a member of the group that contains it; None if not a member."""
    own_notifications: int | None = None
    group_notifications: int | None = None


NO_ACCESS = Access()
