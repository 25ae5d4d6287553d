"""What is stored of deploy keys, besides the keys themselves: which projects each of them opens."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

deploy_key_projects = Table(
    "deploy_key_projects",
    metadata,
    row_id(),
    reference("key_id", "ssh_keys.id"),
    reference("project_id", "projects.id", index=True),
    # What is pushed with the key is recorded in the name of whoever let it in.
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    flag("can_push"),
    text("created_at"),
    UniqueConstraint("key_id", "project_id"),
    sqlite_autoincrement=True,
)


class DeployKeyProject(Record, frozen=True):
    """A project that a key opens."""

    id: int
    key_id: int
    project_id: int
    creator_id: int | None
    can_push: bool
    created_at: Timestamp


class DeployKey(Record, frozen=True):
    """A key, and whether it may push: to the project at hand, or, for administrators, to any."""

    id: int
    title: str
    key: str
    fingerprint_sha256: str
    fingerprint_md5: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    can_push: bool
