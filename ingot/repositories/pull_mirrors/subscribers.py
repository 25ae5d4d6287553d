"""Subscriber that configures the pull mirror of a project whose attributes were edited."""

from msgspec import UNSET

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.events import ProjectMirrorEdited
from ingot.projects.projects.queries import existing_project
from ingot.repositories.pull_mirrors.queries import pull_mirror_or_none
from ingot.repositories.pull_mirrors.service import set_pull_mirror

subscriptions = Subscriptions()


@subscriptions.on(ProjectMirrorEdited)
def edit_pull_mirror(db: Connection, event: ProjectMirrorEdited) -> None:
    """Enable, disable or change the pull mirror."""
    if not event.enabled and not event.url and pull_mirror_or_none(db, event.project_id) is None:
        return
    project = existing_project(db, event.project_id)
    enabled = UNSET if event.enabled is None else event.enabled
    set_pull_mirror(db, event.actor_id, project, event.url or None, enabled)
