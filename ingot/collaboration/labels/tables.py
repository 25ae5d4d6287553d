"""Tables of labels, their links to subjects and their priorities in projects."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# Exactly one of project and group is set.
labels = Table(
    "labels",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("title"),
    text("title_key"),
    text("color"),
    text("description", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "title"),
    UniqueConstraint("group_id", "title"),
    Index("ix_labels_title", "title"),
    sqlite_autoincrement=True,
)

label_links = Table(
    "label_links",
    metadata,
    row_id(),
    reference("label_id", "labels.id"),
    text("subject_kind"),
    number("subject_id"),
    # Copies of columns of the subject, because joining every subject would make counting too slow.
    reference("project_id", "projects.id"),
    text("state"),
    flag("confidential"),
    UniqueConstraint("subject_kind", "subject_id", "label_id"),
    # In the order of the counting query's GROUP BY, so that it needs no sort.
    Index("ix_label_links_label_id", "label_id", "subject_kind", "project_id", "state", "confidential", "subject_id"),
    Index("ix_label_links_project_id", "project_id"),
    sqlite_autoincrement=True,
)

label_priorities = Table(
    "label_priorities",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("label_id", "labels.id", index=True),
    number("priority"),
    UniqueConstraint("project_id", "label_id"),
    sqlite_autoincrement=True,
)


class Label(Record, frozen=True):
    """A label."""

    id: int
    project_id: int | None
    group_id: int | None
    title: str
    title_key: str
    color: str
    description: str | None
    created_at: Timestamp
    updated_at: Timestamp
