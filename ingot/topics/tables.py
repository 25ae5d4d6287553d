"""What is stored of topics: only those that an administrator described; the names alone live with the projects."""

from sqlalchemy import Table

from ingot.db.schema import Record, metadata, reference, row_id, text

topics = Table(
    "topics",
    metadata,
    row_id(),
    text("name"),
    text("name_key", unique=True),
    text("title"),
    text("title_key"),
    text("description", nullable=True),
    reference("avatar_id", "avatars.id", ondelete="SET NULL", nullable=True),
    text("avatar_file", nullable=True),
    text("created_at"),
    text("updated_at"),
    sqlite_autoincrement=True,
)


class Topic(Record, frozen=True):
    """A topic as one caller sees it; one that nobody has described yet has no row, and so no id of one."""

    id: int | None
    name: str
    name_key: str
    title: str
    title_key: str
    description: str | None
    avatar_id: int | None
    avatar_file: str | None
    projects_count: int
