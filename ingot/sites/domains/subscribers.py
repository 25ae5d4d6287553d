"""Subscriber that frees the domains of deleted projects."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectDeleted
from ingot.sites.domains.service import delete_domains_of_project

subscriptions = Subscriptions()


@subscriptions.on(ProjectDeleted)
def free_domains(db: Connection, event: ProjectDeleted) -> None:
    """Delete the domains of a deleted project at once; its other rows are deleted by a job later."""
    delete_domains_of_project(db, event.project_id)
