"""What a member may be, and what a caller holds on one subject."""

from enum import IntEnum

import msgspec


class Level(IntEnum):
    """Access levels of members; the numbers are the contract's."""

    NONE = 0
    GUEST = 10
    REPORTER = 20
    DEVELOPER = 30
    MASTER = 40
    OWNER = 50


class Access(msgspec.Struct, frozen=True):
    """What the caller holds where the subject lives."""

    level: Level = Level.NONE


NO_ACCESS = Access()
