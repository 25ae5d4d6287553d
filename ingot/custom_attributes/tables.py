"""What is stored of custom attributes."""

from sqlalchemy import Table, UniqueConstraint

from ingot.db.schema import Record, metadata, reference, row_id, text

# Exactly one of the two ids is set; those of users live with the users.
custom_attributes = Table(
    "custom_attributes",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("key"),
    text("value"),
    UniqueConstraint("project_id", "key"),
    UniqueConstraint("group_id", "key"),
    sqlite_autoincrement=True,
)


class CustomAttribute(Record, frozen=True):
    """A value under a key."""

    id: int
    project_id: int | None
    group_id: int | None
    key: str
    value: str
