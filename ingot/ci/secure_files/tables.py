"""Table of secure files."""

from typing import Any

import msgspec
from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

secure_files = Table(
    "secure_files",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    text("checksum"),
    text("storage_key"),
    # Size of the encrypted file.
    number("stored_size"),
    text("expires_at", nullable=True),
    # JSON object with facts about a certificate or provisioning profile.
    text("details", nullable=True),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    UniqueConstraint("storage_key"),
    Index("ix_secure_files_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)


class SecureFile(Record, frozen=True):
    """A file that jobs download, encrypted in the storage."""

    id: int
    project_id: int
    name: str
    checksum: str
    storage_key: str
    stored_size: int
    expires_at: Timestamp | None
    details: str | None
    created_at: Timestamp

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Facts about a certificate or provisioning profile."""
        return None if self.details is None else msgspec.json.decode(self.details, type=dict[str, Any])
