"""What becomes of labels when what carries them lies in another group."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.groups.namespaces.events import NamespaceMoved
from ingot.labels.service import replace_strays
from ingot.projects.events import ProjectMoved
from ingot.projects.queries import project_by_id, projects_in

subscriptions = Subscriptions()


@subscriptions.on(ProjectMoved)
def follow_project(db: Connection, event: ProjectMoved) -> None:
    """A project takes along what it used of the groups around it."""
    replace_strays(db, project_by_id(db, event.project_id))


@subscriptions.on(NamespaceMoved)
def follow_namespace(db: Connection, event: NamespaceMoved) -> None:
    """So do the projects of a group."""
    for project in projects_in(db, event.namespace_id):
        replace_strays(db, project)
