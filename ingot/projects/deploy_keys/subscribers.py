"""Subscribers that delete deploy keys when projects are deleted."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.deploy_keys.service import remove_deploy_keys
from ingot.projects.projects.events import ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(ProjectDeleted)
def remove_keys_of_project(db: Connection, event: ProjectDeleted) -> None:
    """Remove the deploy keys of a deleted project, whose rows remain until a job removes them."""
    remove_deploy_keys(db, event.project_id)
