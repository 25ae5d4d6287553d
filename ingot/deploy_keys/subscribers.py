"""What becomes of deploy keys when projects go."""

from ingot.db.connection import Connection
from ingot.deploy_keys.service import drop_deploy_keys
from ingot.events.bus import Subscriptions
from ingot.projects.events import ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(ProjectDeleted)
def drop_with_project(db: Connection, event: ProjectDeleted) -> None:
    """A key opens a deleted project no more, though its rows stay for a while."""
    drop_deploy_keys(db, event.project_id)
