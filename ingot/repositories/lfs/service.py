"""State changes of LFS objects and locks."""

from sqlalchemy import BigInteger, Text, bindparam, delete, exists, func, insert, select, update

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid, Unavailable
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.lfs.queries import existing_oids, find_lock, lock_on_path_or_none, path_digest
from ingot.repositories.lfs.tables import LfsLock, lfs_locks, lfs_objects, lfs_project_objects

MAX_PATH_BYTES = 4096
_links = lfs_project_objects
_ID = select(lfs_objects.c.id).where(lfs_objects.c.oid == bindparam("wanted"))
_LINK = select(_links.c.id).where(
    _links.c.project_id == bindparam("project"), _links.c.object_id == bindparam("object")
)
_ADD_SIZE = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(lfs_objects_size=projects.c.lfs_objects_size + bindparam("size"))
)
_COPY_LINKS = insert(_links).from_select(
    ["project_id", "object_id", "created_at"],
    select(bindparam("fork", type_=BigInteger), _links.c.object_id, bindparam("moment", type_=Text)).where(
        _links.c.project_id == bindparam("source")
    ),
)
_SUM = (
    select(func.coalesce(func.sum(lfs_objects.c.size), 0))
    .join(_links, _links.c.object_id == lfs_objects.c.id)
    .where(_links.c.project_id == bindparam("project"))
)
_DELETE_LINKS = delete(_links).where(_links.c.project_id == bindparam("project"))
_DELETE_UNLINKED = delete(lfs_objects).where(
    lfs_objects.c.oid == bindparam("dropped"), ~exists().where(_links.c.object_id == lfs_objects.c.id)
)


def lock_object_row(db: Connection, oid: str) -> None:
    """Lock an object against linking and sweeping; must be called before anything else is read."""
    db.lock(_lock_of(oid))


def link_object(db: Connection, files: LfsFiles, project: Project, oid: str, size: int) -> None:
    """Link an uploaded object to a project and add its size, once."""
    db.must_hold(_lock_of(oid))
    if not files.may_have(oid, size):  # Swept after the upload; the client has to upload it again.
        raise Unavailable("An LFS object has been deleted")
    object_id = db.value(_ID, wanted=oid) or db.insert(lfs_objects, oid=oid, size=size, created_at=db.now)
    if db.value(_LINK, project=project.id, object=object_id) is None:
        db.insert_row(_links, project_id=project.id, object_id=object_id, created_at=db.now)
        db.run(_ADD_SIZE, project=project.id, size=size)


def copy_object_links(db: Connection, source_id: int, fork_id: int) -> None:
    """Link all objects of the source project to its fork."""
    db.run(_COPY_LINKS, fork=fork_id, source=source_id, moment=db.now)
    db.update(projects, fork_id, lfs_objects_size=db.value(_SUM, project=fork_id))


def unlink_objects(db: Connection, project_id: int) -> None:
    """Unlink all objects of a project."""
    db.run(_DELETE_LINKS, project=project_id)


def sweep_object(db: Connection, files: LfsFiles, oid: str, older_than_seconds: float) -> None:
    """Delete an object if no project uses it."""
    lock_object_row(db, oid)
    db.run(_DELETE_UNLINKED, dropped=oid)
    if not existing_oids(db, [oid]):
        files.remove(oid, older_than_seconds)


def lock_file(db: Connection, actor: Actor, project: Project, path: str) -> tuple[LfsLock, bool]:
    """Lock a file for the caller; return the lock and whether it is new."""
    if not actor.known:
        raise Denied("Only users can lock files.")
    if not path.strip() or "\0" in path or len(path.encode()) > MAX_PATH_BYTES:
        raise Invalid(path=["is invalid"])
    existing = lock_on_path_or_none(db, project.id, path)
    if existing is not None:
        return existing, False
    lock_id = db.insert(
        lfs_locks,
        project_id=project.id,
        user_id=actor.user_id,
        path=path,
        path_digest=path_digest(path),
        created_at=db.now,
    )
    return find_lock(db, project.id, lock_id), True


def unlock_file(
    db: Connection, actor: Actor, access: Access, project: Project, lock_id: int, *, force: bool
) -> LfsLock:
    """Remove the caller's own lock, or with ``force`` any lock if the caller is a master; raise Denied otherwise."""
    lock = find_lock(db, project.id, lock_id)
    if lock.user_id != actor.user_id or not actor.known:
        if not force:
            raise Denied(
                f"This file is locked by {lock.owner_name}. Only its owner can unlock it, or a master with --force."
            )
        if not may_admin_project(actor, access, project):
            raise Denied("Only masters can remove locks of other users.")
    db.delete(lfs_locks, lock.id)
    return lock


def _lock_of(oid: str) -> str:
    return f"lfs object {oid}"
