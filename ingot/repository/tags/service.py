"""Telling about tags: releases, and what becomes of them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.access.rules import require
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import Timestamp
from ingot.errors import Conflict, NotFound
from ingot.events.bus import emit
from ingot.git.tagging import tag_or_none
from ingot.projects.tables import Project, projects
from ingot.repository.place import Place
from ingot.repository.protection import policy as protection
from ingot.repository.protection.queries import tag_rules
from ingot.repository.tags.events import ReleaseChanged
from ingot.repository.tags.policy import may_release
from ingot.repository.tags.queries import find_release, release_or_none
from ingot.repository.tags.tables import Release, releases

_DROP = delete(releases).where(releases.c.project_id == bindparam("project"), any_of(releases.c.tag, "tags"))
_HOLD_PROJECT = select(projects.c.id).where(projects.c.id == bindparam("project")).with_for_update()


def require_release(db: Connection, actor: Actor, here: Access, project: Project, tag: str) -> None:
    """Stop whoever may not tell about a tag."""
    matching = protection.tag_rules_on(tag_rules(db, project.id), tag)
    require(may_release(actor, here, project, matching), "You are not allowed to create this tag as it is protected.")


def create_release(
    db: Connection,
    actor: Actor,
    place: Place,
    tag: str,
    *,
    name: str | None = None,
    description: str | None = None,
    released_at: Timestamp | None = None,
    complete: bool = True,
) -> Release:
    """Tell about a tag that nothing was told about yet; it must be there. The caller announces what is not complete."""
    project_id = place.project.id
    # Whoever deletes the tag takes this row as well, so either they see the release or we see that the tag is gone.
    db.rows(_HOLD_PROJECT, project=project_id)
    if tag_or_none(place.repository, tag) is None:
        raise NotFound(message="Tag does not exist")
    if release_or_none(db, project_id, tag) is not None:
        raise Conflict("Release already exists")
    told = {"name": name, "description": description, "released_at": released_at or db.now}
    db.insert(releases, project_id=project_id, author_id=actor.user_id, tag=tag, created_at=db.now, **told)
    release = find_release(db, project_id, tag)
    if complete:
        emit(db, ReleaseChanged(release, "create"))
    return release


def edit_release(db: Connection, release: Release, changes: dict[str, Any]) -> Release:
    """Tell something else."""
    db.update(releases, release.id, **changes)
    edited = find_release(db, release.project_id, release.tag)
    if changes:
        emit(db, ReleaseChanged(edited, "update"))
    return edited


def delete_release(db: Connection, release: Release) -> None:
    """Tell nothing more about a tag, which stays."""
    if db.delete(releases, release.id):
        emit(db, ReleaseChanged(release, "delete"))


def drop_releases(db: Connection, project_id: int, tags: Sequence[str]) -> None:
    """Forget what was told about tags that are gone."""
    db.run(_DROP, project=project_id, tags=list(tags))
