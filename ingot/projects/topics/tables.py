"""Table and record of topics: a row for each name that a project uses or that an administrator described."""

from sqlalchemy import Table, true

from ingot.core.db.schema import Record, flag, metadata, reference, row_id, text

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
    # Topics that are not described are visible only to users who may see a project with that topic.
    flag("described", server_default=true()),
    sqlite_autoincrement=True,
)


class Topic(Record, frozen=True):
    """Topic, with the number of its projects that the caller may see."""

    id: int
    name: str
    name_key: str
    title: str
    title_key: str
    description: str | None
    avatar_id: int | None
    avatar_file: str | None
    projects_count: int
    described: bool
