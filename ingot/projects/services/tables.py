"""Table and record of services."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

services = Table(
    "services",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("slug"),
    flag("active"),
    # JSON: the enabled events and the properties; secret properties are encrypted in a separate column.
    text("events"),
    text("properties"),
    binary("secrets", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "slug"),
    sqlite_autoincrement=True,
)


class Service(Record, frozen=True):
    """Service of a project."""

    id: int
    project_id: int
    slug: str
    active: bool
    events: str
    properties: str
    secrets: bytes | None
    created_at: Timestamp
    updated_at: Timestamp
