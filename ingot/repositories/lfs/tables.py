"""Tables of LFS objects and locks; contents are stored on disk by digest."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

lfs_objects = Table(
    "lfs_objects",
    metadata,
    row_id(),
    text("oid", unique=True),
    number("size"),
    text("created_at"),
    sqlite_autoincrement=True,
)

# Contents are shared on disk, but a project serves only objects that were uploaded to it: knowing a digest must not
# grant access to the content.
lfs_project_objects = Table(
    "lfs_project_objects",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("object_id", "lfs_objects.id", ondelete="RESTRICT", index=True),
    text("created_at"),
    UniqueConstraint("project_id", "object_id"),
    sqlite_autoincrement=True,
)

lfs_locks = Table(
    "lfs_locks",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("user_id", "users.id", index=True),
    text("path"),
    # Paths may exceed the size limit of an index.
    text("path_digest"),
    text("created_at"),
    UniqueConstraint("project_id", "path_digest"),
    Index("ix_lfs_locks_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)


class LfsLock(Record, frozen=True):
    """Exclusive lock of a user on a file."""

    id: int
    project_id: int
    user_id: int
    path: str
    path_digest: str
    created_at: Timestamp
    owner_name: str
