"""What becomes of large files when projects come and go."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.lfs.service import share_objects, take_objects
from ingot.projects.events import ProjectCreated, ProjectDeleted

subscriptions = Subscriptions()


@subscriptions.on(ProjectCreated)
def share_with_fork(db: Connection, event: ProjectCreated) -> None:
    """A fork's history names the same files, so it has them too."""
    if event.forked_from_id is not None:
        share_objects(db, event.forked_from_id, event.project_id)


@subscriptions.on(ProjectDeleted)
def take_from_project(db: Connection, event: ProjectDeleted) -> None:
    """A deleted project holds nothing on the disk; forks keep what is theirs."""
    take_objects(db, event.project_id)
