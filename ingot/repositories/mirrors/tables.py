"""Table and record of push mirrors."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

remote_mirrors = Table(
    "remote_mirrors",
    metadata,
    row_id(),
    reference("project_id", "projects.id", index=True),
    # The URL with its credentials, encrypted; ``url`` shows none.
    binary("sealed_url"),
    text("url"),
    flag("enabled"),
    flag("only_protected_branches"),
    flag("keep_divergent_refs"),
    text("update_status"),
    text("last_error", nullable=True),
    text("last_update_at", nullable=True),
    text("last_update_started_at", nullable=True),
    text("last_successful_update_at", nullable=True),
    text("created_at"),
    text("auth_method", server_default="password"),
    # A mirror over SSH has a key pair of its own; the host keys are those of its first connection.
    binary("sealed_private_key", nullable=True),
    text("public_key", nullable=True),
    text("known_hosts", nullable=True),
    sqlite_autoincrement=True,
)


class RemoteMirror(Record, frozen=True):
    """A push mirror."""

    id: int
    project_id: int
    sealed_url: bytes
    url: str
    enabled: bool
    only_protected_branches: bool
    keep_divergent_refs: bool
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
