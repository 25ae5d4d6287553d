"""What is stored of large files; their content lies on the disk under its digest."""

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

# What lies on the disk is shared, but a project only serves what was brought to it: a digest proves nothing.
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
    # Paths may be longer than an index takes.
    text("path_digest"),
    text("created_at"),
    UniqueConstraint("project_id", "path_digest"),
    Index("ix_lfs_locks_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)


class LfsLock(Record, frozen=True):
    """A file that somebody works on alone."""

    id: int
    project_id: int
    user_id: int
    path: str
    path_digest: str
    created_at: Timestamp
    owner_name: str
