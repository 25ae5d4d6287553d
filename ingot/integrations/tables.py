"""Table and record of services."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

ServiceParent = Project | Namespace
"""Project or group with services."""

services = Table(
    "services",
    metadata,
    row_id(),
    # A service belongs to a project or to a group, whose projects and subgroups inherit it.
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("slug"),
    flag("active"),
    # JSON: the enabled events and the properties; secret properties are encrypted in a separate column.
    text("events"),
    text("properties"),
    binary("secrets", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "slug"),
    UniqueConstraint("group_id", "slug"),
    sqlite_autoincrement=True,
)


class Service(Record, frozen=True):
    """Service of a project or group."""

    id: int
    project_id: int | None
    group_id: int | None
    slug: str
    active: bool
    events: str
    properties: str
    secrets: bytes | None
    created_at: Timestamp
    updated_at: Timestamp
