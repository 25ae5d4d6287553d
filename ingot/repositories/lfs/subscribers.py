"""What becomes of large files when projects come and go."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectCreated, ProjectDeleted
from ingot.repositories.lfs.service import copy_object_links, unlink_objects

subscriptions = Subscriptions()


@subscriptions.on(ProjectCreated)
def link_objects_to_fork(db: Connection, event: ProjectCreated) -> None:
    """A fork's history names the same files, so it has them too."""
    if event.forked_from_id is not None:
        copy_object_links(db, event.forked_from_id, event.project_id)


@subscriptions.on(ProjectDeleted)
def unlink_objects_of_project(db: Connection, event: ProjectDeleted) -> None:
    """A deleted project holds nothing on the disk; forks keep what is theirs."""
    unlink_objects(db, event.project_id)
