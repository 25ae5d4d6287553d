"""Subscriber that removes the runners of deleted projects."""

from ingot.ci.runners.service import remove_runners_of_project
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(ProjectDeleted)
def remove_project_runners(db: Connection, event: ProjectDeleted) -> None:
    """Remove the runners that only the deleted project could use."""
    remove_runners_of_project(db, event.project_id)
