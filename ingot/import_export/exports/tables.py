"""Table of exports of projects and groups, and of their single relations."""

from typing import Literal

from sqlalchemy import Index, Table, false

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

ExportStatus = Literal["queued", "started", "finished", "failed"]

# Exactly one of project and group is set. A user has at most one export of each, and one of each relation.
exports = Table(
    "exports",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    reference("user_id", "users.id", index=True),
    # Name of the relation; empty for an archive of the whole project or group.
    text("relation"),
    text("status"),
    text("description", nullable=True),
    # JSON of the URL and the method with which the archive is uploaded to another server.
    binary("sealed_upload", nullable=True),
    # Key of the file in the storage, which has no name until it is complete.
    text("storage_key", nullable=True, unique=True),
    text("file_name", nullable=True),
    number("size", nullable=True),
    number("objects_count", server_default="0"),
    flag("batched", server_default=false()),
    text("error", nullable=True),
    text("created_at"),
    text("updated_at"),
    text("expires_at", nullable=True, index=True),
    Index("uq_exports_project_id_user_id_relation", "project_id", "user_id", "relation", unique=True),
    Index("uq_exports_group_id_user_id_relation", "group_id", "user_id", "relation", unique=True),
    sqlite_autoincrement=True,
)


class Export(Record, frozen=True):
    """Export of a project or group, or of one relation of it."""

    id: int
    project_id: int | None
    group_id: int | None
    user_id: int
    relation: str
    status: ExportStatus
    description: str | None
    sealed_upload: bytes | None
    storage_key: str | None
    file_name: str | None
    size: int | None
    objects_count: int
    batched: bool
    error: str | None
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp | None
