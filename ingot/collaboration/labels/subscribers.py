"""Subscribers that replace group labels in projects that moved to another group."""

from ingot.collaboration.labels.service import replace_outside_labels
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespaceMoved
from ingot.projects.projects.events import ProjectMoved
from ingot.projects.projects.queries import existing_project, projects_in_namespace

subscriptions = Subscriptions()


@subscriptions.on(ProjectMoved)
def replace_labels_of_moved_project(db: Connection, event: ProjectMoved) -> None:
    """Replace labels of former ancestor groups in a moved project."""
    replace_outside_labels(db, existing_project(db, event.project_id))


@subscriptions.on(NamespaceMoved)
def replace_labels_of_moved_namespace(db: Connection, event: NamespaceMoved) -> None:
    """Replace labels of former ancestor groups in all projects of a moved group."""
    for project in projects_in_namespace(db, event.namespace_id):
        replace_outside_labels(db, project)
