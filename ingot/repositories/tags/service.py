"""State changes of releases."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.core.errors import Conflict, NotFound
from ingot.core.events.bus import emit
from ingot.git.history.tags import tag_or_none
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.queries import tag_rules
from ingot.repositories.tags.events import ReleaseChanged
from ingot.repositories.tags.policy import may_release
from ingot.repositories.tags.queries import find_release, release_or_none
from ingot.repositories.tags.tables import Release, releases

_DELETE_RELEASES = delete(releases).where(
    releases.c.project_id == bindparam("project"), in_list(releases.c.tag, "tags")
)
_LOCK_PROJECT = select(projects.c.id).where(projects.c.id == bindparam("project")).with_for_update()


def require_may_release(db: Connection, actor: Actor, access: Access, project: Project, tag: str) -> None:
    """Raise Denied unless the caller may create a release of this tag."""
    matching = protection.matching_tag_rules(tag_rules(db, project.id), tag)
    require(may_release(actor, access, project, matching), "You are not allowed to create this tag as it is protected.")


def create_release(
    db: Connection,
    actor: Actor,
    context: RepositoryContext,
    tag: str,
    *,
    name: str | None = None,
    description: str | None = None,
    released_at: Timestamp | None = None,
    complete: bool = True,
) -> Release:
    """Create the release of an existing tag; raise Conflict if it has one.

    Unless ``complete``, the caller emits the event.
    """
    project_id = context.project.id
    # Deleting the tag locks this row too. So either the deletion sees the release, or this transaction sees that the
    # tag has been deleted.
    db.rows(_LOCK_PROJECT, project=project_id)
    if tag_or_none(context.repository, tag) is None:
        raise NotFound(message="Tag does not exist")
    if release_or_none(db, project_id, tag) is not None:
        raise Conflict("Release already exists")
    columns = {"name": name, "description": description, "released_at": released_at or db.now}
    db.insert_row(releases, project_id=project_id, author_id=actor.user_id, tag=tag, created_at=db.now, **columns)
    release = find_release(db, project_id, tag)
    if complete:
        emit(db, ReleaseChanged(release, "create"))
    return release


def edit_release(db: Connection, release: Release, changes: dict[str, Any]) -> Release:
    """Update the given columns of a release."""
    db.update(releases, release.id, **changes)
    edited = find_release(db, release.project_id, release.tag)
    if changes:
        emit(db, ReleaseChanged(edited, "update"))
    return edited


def delete_release(db: Connection, release: Release) -> None:
    """Delete a release; its tag remains."""
    if db.delete_counted(releases, release.id):
        emit(db, ReleaseChanged(release, "delete"))


def delete_releases(db: Connection, project_id: int, tags: Sequence[str]) -> None:
    """Delete the releases of deleted tags."""
    db.run(_DELETE_RELEASES, project=project_id, tags=list(tags))
