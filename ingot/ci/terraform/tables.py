"""Tables of Terraform states and their versions."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

terraform_states = Table(
    "terraform_states",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    # NULL while the state is not locked.
    text("lock_id", nullable=True),
    # JSON object with what the client sent about its lock.
    text("lock_info", nullable=True),
    reference("locked_by_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("locked_at", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

terraform_state_versions = Table(
    "terraform_state_versions",
    metadata,
    row_id(),
    reference("state_id", "terraform_states.id"),
    number("serial"),
    reference("created_by_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    # The job whose token stored the version.
    reference("job_id", "commit_statuses.id", ondelete="SET NULL", nullable=True, index=True),
    text("storage_key"),
    number("size"),
    # Size of the encrypted file.
    number("stored_size"),
    text("created_at"),
    UniqueConstraint("state_id", "serial"),
    UniqueConstraint("storage_key"),
    Index("ix_terraform_state_versions_state_id", "state_id", "id"),
    sqlite_autoincrement=True,
)


class TerraformState(Record, frozen=True):
    """A named state of a project."""

    id: int
    project_id: int
    name: str
    lock_id: str | None
    lock_info: str | None
    locked_by_id: int | None
    locked_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class StateVersion(Record, frozen=True):
    """A version of a state, whose content is encrypted in the storage."""

    id: int
    state_id: int
    serial: int
    created_by_id: int | None
    job_id: int | None
    storage_key: str
    size: int
    stored_size: int
    created_at: Timestamp
