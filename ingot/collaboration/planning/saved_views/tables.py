"""Table of saved views."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# The list is that of a project, of a group, or of the dashboard if neither is set.
saved_views = Table(
    "saved_views",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("list_kind"),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    text("name"),
    # Query of the list's address, without the page.
    text("query"),
    text("created_at"),
    Index("ix_saved_views_user_id", "user_id", "list_kind", "project_id", "group_id"),
    sqlite_autoincrement=True,
)


class SavedView(Record, frozen=True):
    """A filter of a list that a user has saved."""

    id: int
    user_id: int
    list_kind: str
    project_id: int | None
    group_id: int | None
    name: str
    query: str
    created_at: Timestamp
