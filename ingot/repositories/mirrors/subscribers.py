"""Subscriber that updates the mirrors of a project after a change of its branches and tags."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.repositories.mirrors.queries import enabled_mirrors, mirror_identity
from ingot.repositories.mirrors.service import enqueue_update
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()
VISITED_OPTION = "mirror.visited="


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
    ]
    if mirror_identity(db, event.project_id) not in visited:
        for mirror in mirrors:
            enqueue_update(db, mirror, visited)
