"""Queries of push mirrors."""

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.mirrors.tables import RemoteMirror, remote_mirrors

MAX_RETRIED = 100
_OF_PROJECT = select(remote_mirrors).where(remote_mirrors.c.project_id == bindparam("project"))
_LIST = list_query(_OF_PROJECT, remote_mirrors.c.id, remote_mirrors.c.id.asc())
_ONE = _OF_PROJECT.where(remote_mirrors.c.id == bindparam("mirror"))
_ENABLED = _OF_PROJECT.where(remote_mirrors.c.enabled)
_COUNT = select(func.count()).select_from(remote_mirrors).where(remote_mirrors.c.project_id == bindparam("project"))
# A deleted project has no namespace; its rows are removed later.
_TO_UPDATE = (
    select(remote_mirrors)
    .join(projects, projects.c.id == remote_mirrors.c.project_id)
    .where(remote_mirrors.c.id == bindparam("mirror"), projects.c.namespace_id.is_not(None))
)
_FAILED = (
    select(remote_mirrors)
    .where(remote_mirrors.c.enabled, remote_mirrors.c.update_status == "failed")
    .order_by(remote_mirrors.c.last_update_at)
    .limit(MAX_RETRIED)
)


def list_mirrors(db: Connection, project: Project, page: Page) -> Listing[RemoteMirror]:
    """List the mirrors of a project."""
    return fetch_page(db, RemoteMirror, _LIST, page, project=project.id)


def mirror_or_none(db: Connection, project: Project, mirror_id: int) -> RemoteMirror | None:
    """Return a mirror of a project."""
    return db.first(RemoteMirror, _ONE, project=project.id, mirror=mirror_id)


def find_mirror(db: Connection, project: Project, mirror_id: int) -> RemoteMirror:
    """Return a mirror of a project; raise NotFound if there is none."""
    mirror = mirror_or_none(db, project, mirror_id)
    if mirror is None:
        raise NotFound("Remote Mirror")
    return mirror


def enabled_mirrors(db: Connection, project_id: int) -> list[RemoteMirror]:
    """Return the enabled mirrors of a project."""
    return db.all(RemoteMirror, _ENABLED, project=project_id)


def count_mirrors(db: Connection, project: Project) -> int:
    """Return the number of mirrors of a project."""
    count: int = db.value(_COUNT, project=project.id)
    return count


def mirror_to_update_or_none(db: Connection, mirror_id: int) -> RemoteMirror | None:
    """Return a mirror for its job, unless it or its project was deleted."""
    return db.first(RemoteMirror, _TO_UPDATE, mirror=mirror_id)


def failed_mirrors(db: Connection) -> list[RemoteMirror]:
    """Return some of the enabled mirrors whose last update failed."""
    return db.all(RemoteMirror, _FAILED)


def mirror_identity(db: Connection, project_id: int) -> str:
    """Return the name of a project in the path of a mirrored push, which reveals nothing about it."""
    return db.vault.derive("mirror", str(project_id).encode())[:16]
