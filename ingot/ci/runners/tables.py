"""Tables of runners, their machines and the tokens with which they register."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

RunnerType = Literal["instance_type", "group_type", "project_type"]
RunnerAccessLevel = Literal["not_protected", "ref_protected"]

runners = Table(
    "runners",
    metadata,
    row_id(),
    text("runner_type"),
    # Only of group runners.
    reference("group_id", "namespaces.id", nullable=True, index=True),
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("description"),
    text("maintenance_note", nullable=True),
    # Whether a user created it (POST /user/runners); otherwise it registered with a registration token.
    flag("created_by_user"),
    binary("sealed_token"),
    binary("token_digest", unique=True),
    text("token_expires_at", nullable=True),
    flag("active"),
    flag("locked"),
    flag("run_untagged"),
    text("access_level"),
    number("maximum_timeout", nullable=True),
    # JSON list, sorted.
    text("tags"),
    text("name", nullable=True),
    text("version", nullable=True),
    text("revision", nullable=True),
    text("platform", nullable=True),
    text("architecture", nullable=True),
    text("ip_address", nullable=True),
    text("contacted_at", nullable=True),
    text("created_at"),
    text("updated_at"),
    Index("ix_runners_runner_type", "runner_type", "id"),
    sqlite_autoincrement=True,
)

# Projects of project runners; the first one owns the runner.
runner_projects = Table(
    "runner_projects",
    metadata,
    row_id(),
    reference("runner_id", "runners.id"),
    reference("project_id", "projects.id", index=True),
    UniqueConstraint("runner_id", "project_id"),
    sqlite_autoincrement=True,
)

# Machines that use the token of a runner.
runner_managers = Table(
    "runner_managers",
    metadata,
    row_id(),
    reference("runner_id", "runners.id"),
    text("system_id"),
    text("version", nullable=True),
    text("revision", nullable=True),
    text("platform", nullable=True),
    text("architecture", nullable=True),
    text("ip_address", nullable=True),
    text("contacted_at", nullable=True),
    text("created_at"),
    UniqueConstraint("runner_id", "system_id"),
    sqlite_autoincrement=True,
)

# Tokens to register runners of the instance, a group or a project. The token of a project is also in its row.
registration_tokens = Table(
    "registration_tokens",
    metadata,
    row_id(),
    # The owner ("project 1", "group 2" or "instance"), as in variables.
    text("place", unique=True),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    binary("sealed_token"),
    binary("token_digest", unique=True),
    sqlite_autoincrement=True,
)

# One row: a counter that changes whenever a runner may get a job that it could not get before.
ci_queue_version = Table(
    "ci_queue_version",
    metadata,
    row_id(),
    number("version"),
    sqlite_autoincrement=True,
)


class Runner(Record, frozen=True):
    """A process that executes jobs."""

    id: int
    runner_type: RunnerType
    group_id: int | None
    creator_id: int | None
    description: str
    maintenance_note: str | None
    created_by_user: bool
    sealed_token: bytes
    token_digest: bytes
    token_expires_at: Timestamp | None
    active: bool
    locked: bool
    run_untagged: bool
    access_level: RunnerAccessLevel
    maximum_timeout: int | None
    tags: str
    name: str | None
    version: str | None
    revision: str | None
    platform: str | None
    architecture: str | None
    ip_address: str | None
    contacted_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class RunnerManager(Record, frozen=True):
    """A machine that uses the token of a runner."""

    id: int
    runner_id: int
    system_id: str
    version: str | None
    revision: str | None
    platform: str | None
    architecture: str | None
    ip_address: str | None
    contacted_at: Timestamp | None
    created_at: Timestamp


class RegistrationToken(Record, frozen=True):
    """A token with which runners of the instance, a group or a project register."""

    id: int
    place: str
    project_id: int | None
    group_id: int | None
    sealed_token: bytes
    token_digest: bytes
