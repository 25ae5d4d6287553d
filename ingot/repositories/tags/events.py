"""Events of releases."""

from typing import Literal

from ingot.core.events.bus import Event
from ingot.repositories.tags.tables import Release


class ReleaseChanged(Event, frozen=True):
    """A release was created, updated or deleted."""

    release: Release
    action: Literal["create", "update", "delete"]
