"""Table of deployments."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

pages_deployments = Table(
    "pages_deployments",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("job_id", "commit_statuses.id", ondelete="SET NULL", nullable=True, index=True),
    # Orders deployments of a path prefix: an older pipeline that ends later replaces nothing.
    number("pipeline_id"),
    text("path_prefix"),
    text("root_directory"),
    text("storage_key"),
    # Size of the file; its index begins at the offset.
    number("size"),
    number("index_offset"),
    number("file_count"),
    text("created_at"),
    text("updated_at"),
    text("expires_at", nullable=True),
    text("deleted_at", nullable=True),
    UniqueConstraint("storage_key"),
    Index("ix_pages_deployments_project_id", "project_id", "id"),
    Index("ix_pages_deployments_expires_at", "expires_at", **index_where("deleted_at IS NULL")),
    Index("ix_pages_deployments_deleted_at", "deleted_at", **index_where("deleted_at IS NOT NULL")),
    sqlite_autoincrement=True,
)


class PagesDeployment(Record, frozen=True):
    """A version of the files that a project publishes at its address, or below a path prefix."""

    id: int
    project_id: int
    job_id: int | None
    pipeline_id: int
    path_prefix: str
    root_directory: str
    storage_key: str
    size: int
    index_offset: int
    file_count: int
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp | None
    deleted_at: Timestamp | None

    def is_active(self, now: Timestamp) -> bool:
        """Return whether the deployment is served."""
        return self.deleted_at is None and (self.expires_at is None or self.expires_at > now)
