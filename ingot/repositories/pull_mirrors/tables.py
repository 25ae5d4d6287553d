"""Table and record of pull mirrors; their settings are options of the project."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

pull_mirrors = Table(
    "pull_mirrors",
    metadata,
    row_id(),
    reference("project_id", "projects.id", unique=True),
    # The user in whose name the branches change.
    reference("user_id", "users.id", index=True),
    # The URL with its credentials, encrypted; ``url`` shows none.
    binary("sealed_url"),
    text("url"),
    flag("enabled"),
    text("update_status"),
    text("last_error", nullable=True),
    text("last_update_at", nullable=True),
    text("last_update_started_at", nullable=True),
    text("last_successful_update_at", nullable=True),
    text("created_at"),
    text("auth_method", server_default="password"),
    # For SSH: the encrypted key of the mirror, and the host keys of its first connection.
    binary("sealed_private_key", nullable=True),
    text("public_key", nullable=True),
    text("known_hosts", nullable=True),
    sqlite_autoincrement=True,
)


class PullMirror(Record, frozen=True):
    """A pull mirror."""

    id: int
    project_id: int
    user_id: int
    sealed_url: bytes
    url: str
    enabled: bool
    update_status: str
    last_error: str | None
    last_update_at: Timestamp | None
    last_update_started_at: Timestamp | None
    last_successful_update_at: Timestamp | None
    created_at: Timestamp
    auth_method: str
    sealed_private_key: bytes | None
    public_key: str | None
    known_hosts: str | None
