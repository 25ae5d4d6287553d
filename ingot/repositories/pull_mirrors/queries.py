"""Queries of pull mirrors."""

from sqlalchemy import bindparam, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.pull_mirrors.tables import PullMirror, pull_mirrors

MAX_DUE = 100
_OF_PROJECT = select(pull_mirrors).where(pull_mirrors.c.project_id == bindparam("project"))
# A deleted project has no namespace; its rows are removed later.
_USABLE = (pull_mirrors.c.enabled, projects.c.namespace_id.is_not(None))
_JOINED = select(pull_mirrors).join(projects, projects.c.id == pull_mirrors.c.project_id)
_TO_UPDATE = _JOINED.where(pull_mirrors.c.id == bindparam("mirror"), *_USABLE)
_DUE = (
    _JOINED.where(
        *_USABLE,
        ~projects.c.archived,
        or_(pull_mirrors.c.last_update_at.is_(None), pull_mirrors.c.last_update_at < bindparam("before")),
    )
    .order_by(pull_mirrors.c.last_update_at, pull_mirrors.c.id)
    .limit(MAX_DUE)
)


def pull_mirror_or_none(db: Connection, project_id: int) -> PullMirror | None:
    """Return the pull mirror of a project."""
    return db.first(PullMirror, _OF_PROJECT, project=project_id)


def find_pull_mirror(db: Connection, project: Project) -> PullMirror:
    """Return the pull mirror of a project; raise Invalid if it has none."""
    mirror = pull_mirror_or_none(db, project.id)
    if mirror is None:
        raise Invalid("The project is not mirrored")
    return mirror


def pull_mirror_to_update_or_none(db: Connection, mirror_id: int) -> PullMirror | None:
    """Return an enabled pull mirror for its job, unless its project was deleted."""
    return db.first(PullMirror, _TO_UPDATE, mirror=mirror_id)


def due_pull_mirrors(db: Connection, before: Timestamp) -> list[PullMirror]:
    """Return some of the enabled mirrors whose last update was before a time."""
    return db.all(PullMirror, _DUE, before=before)
