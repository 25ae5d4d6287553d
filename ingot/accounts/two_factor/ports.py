"""Queries about second factors that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


@dataclass(frozen=True, slots=True)
class GroupRequirements:
    """Port to the groups that require two-factor authentication of their members."""

    due_at: Callable[[Connection, int], Timestamp | None]
    """Takes the id of a user; returns when the user must have a second factor, None if no group requires it."""
