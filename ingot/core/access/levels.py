"""What a member may be, and what a caller holds on one subject."""

from enum import IntEnum
from typing import Literal

import msgspec


class Level(IntEnum):
    """Access levels of members; the numbers are the contract's."""

    NONE = 0
    GUEST = 10
    REPORTER = 20
    DEVELOPER = 30
    MASTER = 40
    OWNER = 50


LevelNumber = Literal[10, 20, 30, 40, 50]
"""A level that somebody holds, as callers write it."""


class Access(msgspec.Struct, frozen=True):
    """What the caller holds where the subject lives."""

    level: Level = Level.NONE
    inside: bool = False
    """Whether they belong to something below, which lets them see what is around it."""
    own: int | None = None
    """What they hold in the very project, if they are members of it."""
    group: int | None = None
    """What they hold in the group around it, if they are members of that."""
    own_notifications: int | None = None
    group_notifications: int | None = None


NO_ACCESS = Access()
