"""Levels of protection rules by name."""

from typing import Literal

from ingot.core.access.levels import Level
from ingot.packages.records.rules import ADMINISTRATOR

PushLevel = Literal["maintainer", "owner", "admin", ""]
"""Level that a push needs; empty for none."""
LEVELS: dict[str, int] = {"maintainer": Level.MASTER, "owner": Level.OWNER, "admin": ADMINISTRATOR}
_NAMES = {number: name for name, number in LEVELS.items()}


def level_number(name: str | None) -> int | None:
    """Return the number of a level, or None for none."""
    return LEVELS[name] if name else None


def level_name(number: int | None) -> str | None:
    """Return the name of a level, or None for none."""
    return None if number is None else _NAMES[number]
