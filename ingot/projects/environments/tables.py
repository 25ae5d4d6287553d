"""Tables and records of environments and deployments."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

Tier = Literal["production", "staging", "testing", "development", "other"]
State = Literal["available", "stopped"]
Status = Literal["running", "success", "failed", "canceled"]

environments = Table(
    "environments",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    text("slug"),
    text("external_url", nullable=True),
    text("state"),
    text("tier"),
    text("created_at"),
    text("updated_at"),
    text("name_key"),
    # Time at which a job of the queue stops the environment.
    text("auto_stop_at", nullable=True),
    # Time at which a job of the queue deletes the environment, if it is stopped then.
    text("auto_delete_at", nullable=True),
    UniqueConstraint("project_id", "name"),
    UniqueConstraint("project_id", "slug"),
    UniqueConstraint("project_id", "external_url"),
    Index("ix_environments_project_id", "project_id", "id"),
    Index("ix_environments_auto_stop_at", "auto_stop_at", **index_where("auto_stop_at IS NOT NULL")),
    Index("ix_environments_auto_delete_at", "auto_delete_at", **index_where("auto_delete_at IS NOT NULL")),
    sqlite_autoincrement=True,
)

deployments = Table(
    "deployments",
    metadata,
    row_id(),
    number("iid"),
    reference("project_id", "projects.id"),
    reference("environment_id", "environments.id"),
    reference("user_id", "users.id", ondelete="SET NULL", nullable=True),
    text("sha"),
    text("ref"),
    flag("tag"),
    text("status"),
    text("created_at"),
    text("updated_at"),
    text("finished_at", nullable=True),
    UniqueConstraint("project_id", "iid"),
    Index("ix_deployments_project_id", "project_id", "id"),
    Index("ix_deployments_environment_id", "environment_id", "id"),
    sqlite_autoincrement=True,
)


class Environment(Record, frozen=True):
    """Target of deployments of a project."""

    id: int
    project_id: int
    name: str
    slug: str
    external_url: str | None
    state: State
    tier: Tier
    created_at: Timestamp
    updated_at: Timestamp
    name_key: str
    auto_stop_at: Timestamp | None
    auto_delete_at: Timestamp | None


class Deployment(Record, frozen=True):
    """Deployment, with the columns of its environment and user that responses show."""

    id: int
    iid: int
    project_id: int
    environment_id: int
    user_id: int | None
    sha: str
    ref: str
    tag: bool
    status: Status
    created_at: Timestamp
    updated_at: Timestamp
    finished_at: Timestamp | None
    environment_name: str
    environment_slug: str
    environment_url: str | None
    environment_created_at: Timestamp
    environment_updated_at: Timestamp
    username: str | None
    user_name: str | None
    user_state: str | None
    user_avatar_id: int | None
    user_avatar_file: str | None
    user_bot: bool | None
