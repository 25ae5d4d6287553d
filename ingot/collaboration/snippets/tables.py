"""Tables of snippets and their files."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

snippets = Table(
    "snippets",
    metadata,
    row_id(),
    # Null for a personal snippet.
    reference("project_id", "projects.id", nullable=True),
    reference("author_id", "users.id"),
    text("title"),
    text("description", nullable=True),
    text("visibility"),
    text("user_agent"),
    text("ip_address"),
    text("created_at"),
    text("updated_at"),
    Index("ix_snippets_project_id", "project_id", "id"),
    Index("ix_snippets_author_id", "author_id", "id"),
    Index("ix_snippets_visibility", "visibility", "project_id", "id"),
    sqlite_autoincrement=True,
)

# A separate table, so that lists do not read the contents.
snippet_files = Table(
    "snippet_files",
    metadata,
    row_id(),
    reference("snippet_id", "snippets.id"),
    text("path"),
    text("content"),
    UniqueConstraint("snippet_id", "path"),
    sqlite_autoincrement=True,
)


class Snippet(Record, frozen=True):
    """A snippet without its files."""

    id: int
    project_id: int | None
    author_id: int
    title: str
    description: str | None
    visibility: str
    user_agent: str
    ip_address: str
    created_at: Timestamp
    updated_at: Timestamp


class SnippetFile(Record, frozen=True):
    """A file of a snippet; older clients treat the first one as the whole snippet."""

    id: int
    snippet_id: int
    path: str
    content: str
