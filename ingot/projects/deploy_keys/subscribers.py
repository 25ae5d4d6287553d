"""What becomes of deploy keys when projects go."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.deploy_keys.service import remove_deploy_keys
from ingot.projects.projects.events import ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(ProjectDeleted)
def remove_keys_of_project(db: Connection, event: ProjectDeleted) -> None:
    """A key opens a deleted project no more, though its rows stay for a while."""
    remove_deploy_keys(db, event.project_id)
