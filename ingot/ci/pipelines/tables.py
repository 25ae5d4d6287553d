"""Tables of variables of pipelines and of settings for CI."""

from typing import Literal

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint, false, true

from ingot.core.db.schema import Identifier, Record, binary, flag, metadata, number, reference, row_id, text

VariableType = Literal["env_var", "file"]

# Variables given by the caller, a trigger or a schedule when the pipeline was created.
pipeline_variables = Table(
    "pipeline_variables",
    metadata,
    row_id(),
    reference("pipeline_id", "pipelines.id"),
    text("key"),
    binary("sealed_value"),
    text("variable_type"),
    flag("raw"),
    UniqueConstraint("pipeline_id", "key"),
    sqlite_autoincrement=True,
)

# Predefined variables that are known when the pipeline is created: of the commit and of the merge request.
pipeline_contexts = Table(
    "pipeline_contexts",
    metadata,
    Column("pipeline_id", Identifier, ForeignKey("pipelines.id", ondelete="CASCADE"), primary_key=True),
    # JSON object.
    text("variables"),
    # JSON list: what the configuration contains that has no effect; NULL for nothing.
    text("warnings", nullable=True),
)

# Pipelines that jobs of other pipelines have started.
downstream_pipelines = Table(
    "downstream_pipelines",
    metadata,
    Column("pipeline_id", Identifier, ForeignKey("pipelines.id", ondelete="CASCADE"), primary_key=True),
    reference("job_id", "ci_jobs.id", unique=True),
    reference("upstream_id", "pipelines.id", index=True),
    # The pipeline that no job has started. No foreign key: it may be deleted.
    number("root_id"),
    Index("ix_downstream_pipelines_root_id", "root_id"),
)

# Pipelines whose status jobs of other pipelines take.
mirrored_pipelines = Table(
    "mirrored_pipelines",
    metadata,
    Column("job_id", Identifier, ForeignKey("ci_jobs.id", ondelete="CASCADE"), primary_key=True),
    reference("pipeline_id", "pipelines.id", index=True),
)

# Settings of a project that only CI reads; a project without a row has the defaults.
ci_settings = Table(
    "ci_settings",
    metadata,
    Column("project_id", Identifier, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    number("build_timeout", server_default="3600"),
    text("build_coverage_regex", nullable=True),
    text("build_git_strategy", server_default="fetch"),
    number("default_git_depth", server_default="20"),
    flag("auto_cancel_pending_pipelines", server_default=true()),
    flag("keep_latest_artifact", server_default=true()),
    flag("group_runners_enabled", server_default=true()),
    flag("job_token_scope_enabled", server_default=true()),
    flag("allow_fork_pipelines_in_parent", server_default=false()),
)


class DownstreamPipeline(Record, frozen=True):
    """Link from a pipeline to the job that has started it."""

    pipeline_id: int
    job_id: int
    upstream_id: int
    root_id: int


class MirroredPipeline(Record, frozen=True):
    """Link from a job to the pipeline whose status it takes."""

    job_id: int
    pipeline_id: int


class CiSettings(Record, frozen=True):
    """Settings of a project for CI."""

    project_id: int
    build_timeout: int = 3600
    build_coverage_regex: str | None = None
    build_git_strategy: str = "fetch"
    default_git_depth: int = 20
    auto_cancel_pending_pipelines: bool = True
    keep_latest_artifact: bool = True
    group_runners_enabled: bool = True
    job_token_scope_enabled: bool = True
    allow_fork_pipelines_in_parent: bool = False


class PipelineVariable(Record, frozen=True):
    """A variable given to a pipeline when it was created."""

    id: int
    pipeline_id: int
    key: str
    sealed_value: bytes
    variable_type: VariableType
    raw: bool
