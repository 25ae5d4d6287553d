"""Subscribers of LFS objects to created and deleted projects."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectCreated, ProjectDeleted
from ingot.repositories.lfs.service import copy_object_links, unlink_objects

subscriptions = Subscriptions()


@subscriptions.on(ProjectCreated)
def link_objects_to_fork(db: Connection, event: ProjectCreated) -> None:
    """Link the source project's objects to a fork, whose history references them."""
    if event.forked_from_id is not None:
        copy_object_links(db, event.forked_from_id, event.project_id)


@subscriptions.on(ProjectDeleted)
def unlink_objects_of_project(db: Connection, event: ProjectDeleted) -> None:
    """Unlink the objects of a deleted project; objects used by forks remain."""
    unlink_objects(db, event.project_id)
