"""Questions of the kernel that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection


@dataclass(frozen=True, slots=True)
class ClosedItems:
    """Port to projects."""

    omit: Callable[[Connection, Actor, Any], Any]
    """Returns the result of an endpoint; in a list, without what is in groups that are closed to the address."""
