"""Tables of imports: runs with their entities, imported projects with the links to their rows, and source users."""

from typing import Literal

from sqlalchemy import PrimaryKeyConstraint, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

SourceType = Literal["gitlab", "github", "gitea", "archive", "git"]
RunStatus = Literal["created", "started", "finished", "failed", "canceled"]
EntityType = Literal["group_entity", "project_entity"]
SourceUserStatus = Literal["pending_reassignment", "awaiting_approval", "rejected", "completed", "keep_as_placeholder"]

import_runs = Table(
    "import_runs",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    text("source_type"),
    text("source_url"),
    text("status"),
    # The token of the source and the path of an archive; removed when the run has ended.
    binary("sealed_credentials", nullable=True),
    # JSON document of ``RunOptions``.
    text("options_document", server_default="{}"),
    text("created_at"),
    text("updated_at"),
    text("finished_at", nullable=True),
    sqlite_autoincrement=True,
)

imported_sources = Table(
    "imported_sources",
    metadata,
    row_id(),
    # Either the project or the group that it is imported into.
    reference("project_id", "projects.id", nullable=True),
    reference("group_id", "namespaces.id", nullable=True),
    text("source_type"),
    # Host of the source's server; identifies its users together with their keys.
    text("source_host"),
    text("source_key"),
    # The beginning of the last complete run: a repeated run needs only what was changed after it.
    text("complete_since", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "source_host", "source_key"),
    UniqueConstraint("group_id", "source_host", "source_key"),
    sqlite_autoincrement=True,
)

import_entities = Table(
    "import_entities",
    metadata,
    row_id(),
    reference("run_id", "import_runs.id", index=True),
    reference("parent_id", "import_entities.id", nullable=True, index=True),
    text("entity_type"),
    text("source_key"),
    text("source_full_path"),
    text("destination_namespace"),
    text("destination_name"),
    text("destination_slug"),
    reference("namespace_id", "namespaces.id", ondelete="SET NULL", nullable=True, index=True),
    reference("project_id", "projects.id", ondelete="SET NULL", nullable=True, index=True),
    reference("import_id", "imported_sources.id", ondelete="SET NULL", nullable=True, index=True),
    text("status"),
    # The step that is in progress, and the source's position in it.
    text("step", nullable=True),
    text("cursor", nullable=True),
    # JSON documents: ``Inventory`` of the source, and ``EntityProgress``.
    text("inventory_document", nullable=True),
    text("progress_document", server_default="{}"),
    text("error", nullable=True),
    text("created_at"),
    text("updated_at"),
    text("finished_at", nullable=True),
    sqlite_autoincrement=True,
)

import_failures = Table(
    "import_failures",
    metadata,
    row_id(),
    reference("entity_id", "import_entities.id", index=True),
    text("relation"),
    text("source_key", nullable=True),
    text("reason"),
    text("created_at"),
    sqlite_autoincrement=True,
)

import_links = Table(
    "import_links",
    metadata,
    reference("import_id", "imported_sources.id"),
    text("kind"),
    text("key"),
    number("local_id"),
    text("fingerprint"),
    PrimaryKeyConstraint("import_id", "kind", "key"),
)

source_users = Table(
    "source_users",
    metadata,
    row_id(),
    # Root namespace: a mapping that its owners chose must not attribute content in namespaces of others.
    reference("namespace_id", "namespaces.id"),
    text("source_host"),
    text("source_key"),
    text("source_username"),
    text("source_name"),
    text("source_email", nullable=True, index=True),
    # The placeholder, or the real user once it is known.
    reference("user_id", "users.id", index=True),
    flag("placeholder"),
    text("status"),
    reference("reassign_to_user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    reference("reassigned_by_user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("namespace_id", "source_host", "source_key"),
    sqlite_autoincrement=True,
)


class ImportRun(Record, frozen=True):
    """Import that a user started: of one or several projects and groups of a source."""

    id: int
    user_id: int
    source_type: SourceType
    source_url: str
    status: RunStatus
    sealed_credentials: bytes | None
    options_document: str
    created_at: Timestamp
    updated_at: Timestamp
    finished_at: Timestamp | None


class ImportedSource(Record, frozen=True):
    """Project or group of a source that is imported into one of this instance, in one run or repeatedly."""

    id: int
    project_id: int | None
    group_id: int | None
    source_type: SourceType
    source_host: str
    source_key: str
    complete_since: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class ImportEntity(Record, frozen=True):
    """Project or group of a run."""

    id: int
    run_id: int
    parent_id: int | None
    entity_type: EntityType
    source_key: str
    source_full_path: str
    destination_namespace: str
    destination_name: str
    destination_slug: str
    namespace_id: int | None
    project_id: int | None
    import_id: int | None
    status: RunStatus
    step: str | None
    cursor: str | None
    inventory_document: str | None
    progress_document: str
    error: str | None
    created_at: Timestamp
    updated_at: Timestamp
    finished_at: Timestamp | None


class ImportProblem(Record, frozen=True):
    """Object that was not imported, with the reason."""

    id: int
    entity_id: int
    relation: str
    source_key: str | None
    reason: str
    created_at: Timestamp


class SourceUser(Record, frozen=True):
    """User of a source, as mapped in the projects below a root namespace."""

    id: int
    namespace_id: int
    source_host: str
    source_key: str
    source_username: str
    source_name: str
    source_email: str | None
    user_id: int
    placeholder: bool
    status: SourceUserStatus
    reassign_to_user_id: int | None
    reassigned_by_user_id: int | None
    created_at: Timestamp
    updated_at: Timestamp
