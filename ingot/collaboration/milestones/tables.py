"""Table of milestones."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp

# Exactly one of project and group is set; the iid is unique within it.
milestones = Table(
    "milestones",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    number("iid"),
    text("title"),
    text("title_key"),
    text("description", nullable=True),
    text("state"),
    text("due_date", nullable=True),
    text("start_date", nullable=True),
    text("created_at"),
    text("updated_at"),
    text("description_key"),
    UniqueConstraint("project_id", "iid"),
    UniqueConstraint("group_id", "iid"),
    UniqueConstraint("project_id", "title"),
    UniqueConstraint("group_id", "title"),
    Index("ix_milestones_title", "title"),
    Index("ix_milestones_due_date", "due_date", "id", "project_id", "group_id"),
    sqlite_autoincrement=True,
)


class Milestone(Record, frozen=True):
    """A milestone, with the path of the project or group that it belongs to."""

    id: int
    project_id: int | None
    group_id: int | None
    iid: int
    title: str
    title_key: str
    description: str | None
    state: str
    due_date: Date | None
    start_date: Date | None
    created_at: Timestamp
    updated_at: Timestamp
    description_key: str
    full_path: str
