"""Queries of LFS objects and locks."""

import hashlib
from collections.abc import Collection

from sqlalchemy import bindparam, exists, select

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound
from ingot.repositories.lfs.tables import LfsLock, lfs_locks, lfs_objects, lfs_project_objects

_links = lfs_project_objects
_LINKED = (
    select(lfs_objects.c.oid, lfs_objects.c.size)
    .join(_links, _links.c.object_id == lfs_objects.c.id)
    .where(_links.c.project_id == bindparam("project"), in_list(lfs_objects.c.oid, "oids"))
)
_EXISTING = select(lfs_objects.c.oid).where(in_list(lfs_objects.c.oid, "oids"))
_UNLINKED = (
    select(lfs_objects.c.oid)
    .where(lfs_objects.c.oid > bindparam("after"), ~exists().where(_links.c.object_id == lfs_objects.c.id))
    .order_by(lfs_objects.c.oid)
    .limit(500)
)
_RECORDED = (
    select(lfs_objects.c.oid, lfs_objects.c.size)
    .where(lfs_objects.c.oid > bindparam("after"))
    .order_by(lfs_objects.c.oid)
    .limit(500)
)
_LOCKS = (
    select(lfs_locks, users.c.name)
    .join(users, users.c.id == lfs_locks.c.user_id)
    .where(lfs_locks.c.project_id == bindparam("project"))
)
_LOCK = _LOCKS.where(lfs_locks.c.id == bindparam("lock"))
_LOCK_ON = _LOCKS.where(lfs_locks.c.path_digest == bindparam("digest"))
_LOCKS_AFTER = _LOCKS.where(lfs_locks.c.id > bindparam("after")).order_by(lfs_locks.c.id).limit(bindparam("most"))


def sizes_in_project(db: Connection, project_id: int, oids: Collection[str]) -> dict[str, int]:
    """Return the sizes of those of these objects that a project has."""
    return dict(db.rows(_LINKED, project=project_id, oids=list(oids)))


def existing_oids(db: Connection, oids: Collection[str]) -> set[str]:
    """Return those of these objects that have a row."""
    return {oid for (oid,) in db.rows(_EXISTING, oids=list(oids))}


def unlinked_oids(db: Connection, after: str) -> list[str]:
    """List the next objects that no project uses."""
    return [oid for (oid,) in db.rows(_UNLINKED, after=after)]


def recorded_files(db: Connection, after: str) -> list[tuple[str, int]]:
    """List the next recorded objects with their sizes."""
    return [(oid, size) for oid, size in db.rows(_RECORDED, after=after)]


def path_digest(path: str) -> str:
    """Return the key under which a path is indexed."""
    return hashlib.sha256(path.encode()).hexdigest()


def lock_on_path_or_none(db: Connection, project_id: int, path: str) -> LfsLock | None:
    """Return the lock on a file, if any."""
    return db.first(LfsLock, _LOCK_ON, project=project_id, digest=path_digest(path))


def find_lock(db: Connection, project_id: int, lock_id: int) -> LfsLock:
    """Return a project's lock; raise NotFound otherwise."""
    lock = db.first(LfsLock, _LOCK, project=project_id, lock=lock_id)
    if lock is None:
        raise NotFound("Lock")
    return lock


def list_locks(db: Connection, project_id: int, after: int, most: int) -> list[LfsLock]:
    """List locks of a project, oldest first."""
    return db.all(LfsLock, _LOCKS_AFTER, project=project_id, after=after, most=most)
