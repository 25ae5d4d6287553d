"""What is announced of releases."""

from typing import Literal

from ingot.core.events.bus import Event
from ingot.repositories.tags.tables import Release


class ReleaseChanged(Event, frozen=True):
    """Something was told about a tag, or told differently, or is told no more."""

    release: Release
    action: Literal["create", "update", "delete"]
