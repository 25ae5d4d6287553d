"""Table of the projects of each deploy key, and records of deploy keys; the keys are in ``ssh_keys``."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

deploy_key_projects = Table(
    "deploy_key_projects",
    metadata,
    row_id(),
    reference("key_id", "ssh_keys.id"),
    reference("project_id", "projects.id", index=True),
    # Pushes with the key are attributed to the user who added it.
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    flag("can_push"),
    text("created_at"),
    UniqueConstraint("key_id", "project_id"),
    sqlite_autoincrement=True,
)


class DeployKeyProject(Record, frozen=True):
    """Permission of a key in a project."""

    id: int
    key_id: int
    project_id: int
    creator_id: int | None
    can_push: bool
    created_at: Timestamp


class DeployKey(Record, frozen=True):
    """Key with its push permission: for one project, or in the administrators' list for any project."""

    id: int
    title: str
    key: str
    fingerprint_sha256: str
    fingerprint_md5: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    can_push: bool
