"""Tables of pending and completed ref changes."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# Written before git changes a ref, deleted with the record of the change. After a crash, the rows that remain show
# which changes were interrupted.
ref_intents = Table(
    "ref_intents",
    metadata,
    row_id(),
    text("key", unique=True),
    reference("project_id", "projects.id", index=True),
    reference("actor_id", "users.id", ondelete="SET NULL", nullable=True),
    text("via"),
    text("updates"),
    text("created_at"),
    # The deploy key that pushes, if any; not a foreign key, because the record outlives the key.
    number("deploy_key_id", nullable=True),
    # JSON list of the options of ``git push -o`` that pipelines need.
    text("push_options", nullable=True),
    sqlite_autoincrement=True,
)

# Record of completed changes; events, merge requests, webhooks and statistics follow from it. ``key`` is the intent's.
ref_changes = Table(
    "ref_changes",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("actor_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("key"),
    text("via"),
    text("ref"),
    text("old"),
    text("new"),
    text("created_at"),
    number("deploy_key_id", nullable=True),
    UniqueConstraint("key", "ref"),
    Index("ix_ref_changes_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)

# Projects whose refs must not change, because their repository is being moved to another storage.
repository_locks = Table(
    "repository_locks",
    metadata,
    row_id(),
    reference("project_id", "projects.id", unique=True),
    text("created_at"),
    sqlite_autoincrement=True,
)


class RefIntent(Record, frozen=True):
    """A pending change; ``updates`` is JSON."""

    id: int
    key: str
    project_id: int
    actor_id: int | None
    via: str
    updates: str
    created_at: Timestamp
    deploy_key_id: int | None
    push_options: str | None = None


class RefChange(Record, frozen=True):
    """A completed change."""

    id: int
    project_id: int
    actor_id: int | None
    key: str
    via: str
    ref: str
    old: str
    new: str
    created_at: Timestamp
    deploy_key_id: int | None
