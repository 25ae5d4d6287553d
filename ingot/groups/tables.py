"""What is stored of namespaces."""

from sqlalchemy import Table

from ingot.db.schema import Record, metadata, reference, row_id, text

namespaces = Table(
    "namespaces",
    metadata,
    row_id(),
    text("kind"),
    text("name"),
    text("path"),
    text("full_path"),
    reference("owner_id", "users.id", nullable=True, unique=True),
    reference("parent_id", "namespaces.id", nullable=True, index=True),
    # Folded copies: unique and searchable whatever the case.
    text("full_path_key", unique=True),
    text("name_key"),
    sqlite_autoincrement=True,
)


class Namespace(Record, frozen=True):
    """A path under which projects live: a user's own, or a group's."""

    id: int
    kind: str
    name: str
    path: str
    full_path: str
    owner_id: int | None
    parent_id: int | None
    full_path_key: str
    name_key: str
