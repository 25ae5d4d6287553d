"""Tables of jobs and of the queue of pending jobs.

A job is a commit status with details: both rows have the same id. Status, name, stage and times are columns of the
commit status, so that jobs and external statuses of a pipeline count alike.
"""

from typing import Any, Literal

import msgspec
from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint, false

from ingot.ci.config.plan import AncestorNeed, ProjectNeed, SiteSpec, TriggerSpec
from ingot.core.db.schema import (
    Identifier,
    Record,
    binary,
    flag,
    index_where,
    metadata,
    number,
    reference,
    row_id,
    text,
)
from ingot.core.db.times import Timestamp
from ingot.pipelines.tables import Status

TOKEN_USERNAME = "gitlab-ci-token"  # noqa: S105 - The username with which jobs send their tokens.
FailureReason = Literal[
    "unknown_failure",
    "script_failure",
    "api_failure",
    "stuck_or_timeout_failure",
    "runner_system_failure",
    "missing_dependency_failure",
    "runner_unsupported",
    "stale_schedule",
    "job_execution_timeout",
    "archived_failure",
    "unmet_prerequisites",
    "scheduler_failure",
    "data_integrity_failure",
    "forward_deployment_failure",
    "failed_outdated_deployment_job",
    "user_blocked",
    "protected_environment_failure",
    "project_deleted",
    "configuration_error",
    "image_pull_failure",
    "job_canceled",
    "trace_size_exceeded",
    "invalid_bridge_trigger",
    "downstream_bridge_project_not_found",
    "insufficient_bridge_permissions",
    "downstream_pipeline_creation_failed",
    "reached_max_descendant_pipelines_depth",
    "reached_max_pipeline_hierarchy_size",
    "pipeline_loop_detected",
    "secrets_provider_not_found",
    "upstream_bridge_project_not_found",
    "insufficient_upstream_permissions",
]

ci_jobs = Table(
    "ci_jobs",
    metadata,
    Column("id", Identifier, ForeignKey("commit_statuses.id", ondelete="CASCADE"), primary_key=True),
    reference("project_id", "projects.id"),
    number("stage_index"),
    text("run_when"),
    # JSON: the names of needed jobs, or NULL for a job that waits for the stages before it.
    text("needs", nullable=True),
    # JSON of JobOptions.
    text("options"),
    # JSON of the variables that the configuration sets.
    text("variables"),
    # JSON list, sorted: the queue compares it as a whole.
    text("tags"),
    flag("protected"),
    flag("interruptible"),
    text("resource_group", nullable=True),
    text("environment", nullable=True),
    number("timeout", nullable=True),
    reference("runner_id", "runners.id", ondelete="SET NULL", nullable=True),
    reference("erased_by_id", "users.id", ondelete="SET NULL", nullable=True),
    # The token is set when a runner takes the job; the jobs that depend on this one need it to fetch artifacts.
    binary("sealed_token", nullable=True),
    binary("token_digest", unique=True, nullable=True),
    text("queued_at", nullable=True),
    text("scheduled_at", nullable=True),
    text("erased_at", nullable=True),
    # The last sign of life of the runner.
    text("contacted_at", nullable=True),
    text("failure_reason", nullable=True),
    number("exit_code", nullable=True),
    flag("cancel_gracefully"),
    reference("deployment_id", "deployments.id", ondelete="SET NULL", nullable=True),
    # Whether the job starts another pipeline; no runner executes it.
    flag("bridge", server_default=false()),
    Index("ix_ci_jobs_project_id", "project_id", "id"),
    Index("ix_ci_jobs_bridge", "project_id", **index_where("bridge")),
    Index("ix_ci_jobs_runner_id", "runner_id", "id"),
    Index("ix_ci_jobs_deployment_id", "deployment_id"),
    Index("ix_ci_jobs_erased_by_id", "erased_by_id"),
    Index("ix_ci_jobs_resource_group", "project_id", "resource_group", **index_where("resource_group IS NOT NULL")),
    Index("ix_ci_jobs_scheduled_at", "scheduled_at", **index_where("scheduled_at IS NOT NULL")),
)

# One row per pending job; a runner takes a job by deleting its row.
ci_queue = Table(
    "ci_queue",
    metadata,
    Column("job_id", Identifier, ForeignKey("ci_jobs.id", ondelete="CASCADE"), primary_key=True),
    reference("project_id", "projects.id"),
    text("tags"),
    flag("protected"),
    text("queued_at"),
    Index("ix_ci_queue_tags", "tags", "protected", "project_id", "job_id"),
    Index("ix_ci_queue_project_id", "project_id", "job_id"),
)

# One row per job that a runner executes, for the fair order of projects and for the search of dead runners.
ci_running = Table(
    "ci_running",
    metadata,
    Column("job_id", Identifier, ForeignKey("ci_jobs.id", ondelete="CASCADE"), primary_key=True),
    reference("project_id", "projects.id", index=True),
    reference("runner_id", "runners.id", ondelete="SET NULL", nullable=True, index=True),
    flag("shared_runner"),
    text("deadline"),
    Index("ix_ci_running_deadline", "deadline"),
)

# Groups of jobs of which one runs at a time. A job names its group; the row says which of the waiting jobs is next.
resource_groups = Table(
    "resource_groups",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("key"),
    text("process_mode"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("project_id", "key", name="uq_resource_groups_project_id"),
    sqlite_autoincrement=True,
)

# Variables that a job reports for later jobs ("dotenv"), or that a user gives when starting a manual job ("manual").
ci_job_variables = Table(
    "ci_job_variables",
    metadata,
    row_id(),
    reference("job_id", "ci_jobs.id"),
    text("source"),
    text("key"),
    binary("sealed_value"),
    UniqueConstraint("job_id", "source", "key"),
    sqlite_autoincrement=True,
)


ProcessMode = Literal["unordered", "oldest_first", "newest_first"]
"""Order of the jobs that wait for a resource group: as they became ready, or by the age of their pipelines."""


class ResourceGroup(Record, frozen=True):
    """Group of jobs of which one runs at a time."""

    id: int
    project_id: int
    key: str
    process_mode: ProcessMode
    created_at: Timestamp
    updated_at: Timestamp


class JobVariable(msgspec.Struct, frozen=True, omit_defaults=True):
    """A variable that the configuration sets for a job."""

    key: str
    value: str
    raw: bool = False


class JobOptions(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Fields of a job's configuration that a runner or a later step needs."""

    script: tuple[str, ...] = ()
    """The lines of ``before_script`` and ``script``."""
    after_script: tuple[str, ...] = ()
    image: dict[str, Any] | None = None
    services: tuple[dict[str, Any], ...] = ()
    artifacts: dict[str, Any] = {}
    cache: tuple[dict[str, Any], ...] = ()
    dependencies: tuple[str, ...] | None = None
    """Jobs whose artifacts are fetched; None for all jobs of earlier stages, or for the needed ones."""
    coverage: str | None = None
    retry_limit: int = 0
    retry_when: tuple[str, ...] = ()
    retry_exit_codes: tuple[int, ...] = ()
    allow_failure_exit_codes: tuple[int, ...] = ()
    environment: dict[str, Any] | None = None
    node: tuple[int, int] | None = None
    start_in: int | None = None
    trigger: TriggerSpec | None = None
    ancestor_needs: tuple[AncestorNeed, ...] = ()
    """Jobs of parent pipelines whose artifacts are fetched."""
    project_needs: tuple[ProjectNeed, ...] = ()
    """Jobs of other projects or refs whose artifacts are fetched."""
    upstream: str | None = None
    """Project whose latest pipeline gives the job its status."""
    secrets: dict[str, dict[str, Any]] = {}
    """Secrets that the runner fetches from a provider, by the names of their variables."""
    id_tokens: dict[str, str | tuple[str, ...]] = {}
    """Audiences of signed tokens by the names of their variables."""
    release: dict[str, Any] | None = None
    site: SiteSpec | None = None


class CiJob(Record, frozen=True):
    """A job with the columns of its commit status."""

    id: int
    project_id: int
    stage_index: int
    run_when: str
    needs: str | None
    options: str
    variables: str
    tags: str
    protected: bool
    interruptible: bool
    resource_group: str | None
    environment: str | None
    timeout: int | None
    runner_id: int | None
    erased_by_id: int | None
    sealed_token: bytes | None
    token_digest: bytes | None
    queued_at: Timestamp | None
    scheduled_at: Timestamp | None
    erased_at: Timestamp | None
    contacted_at: Timestamp | None
    failure_reason: FailureReason | None
    exit_code: int | None
    cancel_gracefully: bool
    deployment_id: int | None
    bridge: bool
    pipeline_id: int
    user_id: int | None
    name: str
    stage: str
    status: Status
    coverage: float | None
    allow_failure: bool
    retried: bool
    created_at: Timestamp
    updated_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
