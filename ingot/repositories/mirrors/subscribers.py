"""Subscriber that updates the mirrors of a project after a change of its branches and tags."""

import re

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.mirror_push import VISITED_OPTION
from ingot.repositories.mirrors.queries import enabled_mirrors, mirror_identity
from ingot.repositories.mirrors.service import enqueue_update
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()
_IDENTITY = re.compile(r"[0-9a-f]{16}")


@subscriptions.on(RefsChanged)
def update_mirrors(db: Connection, event: RefsChanged) -> None:
    """Update the mirrors, unless the change comes from this project through other mirrors, which would be a loop."""
    mirrors = enabled_mirrors(db, event.project_id)
    if not mirrors:
        return
    visited = [
        name
        for option in event.push_options
        if option.startswith(VISITED_OPTION)
        for name in option.removeprefix(VISITED_OPTION).split(",")
        # Clients can send any text as an option, and the names are sent on in a header.
        if _IDENTITY.fullmatch(name)
    ]
    if mirror_identity(db, event.project_id) not in visited:
        for mirror in mirrors:
            enqueue_update(db, mirror, visited)
