"""Tables of pipelines and commit statuses."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint, false

from ingot.core.db.schema import Record, decimal, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

Status = Literal[
    "created",
    "waiting_for_resource",
    "pending",
    "running",
    "success",
    "failed",
    "canceling",
    "canceled",
    "skipped",
    "manual",
    "scheduled",
]

MergeRequestEventType = Literal["detached", "merged_result", "merge_train"]
TRAIN_SUFFIX = "/train"
"""End of the refs of merge trains, such as ``refs/merge-requests/7/train``."""

pipelines = Table(
    "pipelines",
    metadata,
    row_id(),
    number("iid"),
    reference("project_id", "projects.id"),
    reference("user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("sha"),
    text("ref"),
    flag("tag"),
    text("source"),
    text("status"),
    decimal("coverage", nullable=True),
    number("duration", nullable=True),
    text("yaml_errors", nullable=True),
    text("created_at"),
    text("updated_at"),
    text("started_at", nullable=True),
    text("finished_at", nullable=True),
    text("before_sha", nullable=True),
    text("name", nullable=True),
    # Of pipelines for merge requests. No foreign key: merge requests belong to a higher package.
    number("merge_request_id", nullable=True),
    # Whether only protected runners and variables of protected refs apply to its jobs.
    flag("protected", server_default=false()),
    # What a newer pipeline of the ref cancels: "conservative", "interruptible" or "none".
    text("on_new_commit", nullable=True),
    # "all" if the failure of a job cancels the others.
    text("on_job_failure", nullable=True),
    # Names the event that created the pipeline, so that a repeated event creates no second one.
    text("origin_key", nullable=True),
    # Of pipelines for the result of a merge: the head of the merge request, and the commit that it was merged into.
    text("source_sha", nullable=True),
    text("target_sha", nullable=True),
    UniqueConstraint("project_id", "iid"),
    Index("ix_pipelines_project_id", "project_id", "id"),
    Index("ix_pipelines_project_id_sha", "project_id", "sha", "ref", "id"),
    Index("ix_pipelines_project_id_ref", "project_id", "ref", "id"),
    Index("uq_pipelines_origin_key", "origin_key", unique=True),
    Index("ix_pipelines_source_sha", "project_id", "source_sha", "id", **index_where("source_sha IS NOT NULL")),
    Index("ix_pipelines_merge_request_id", "merge_request_id", "id", **index_where("merge_request_id IS NOT NULL")),
    sqlite_autoincrement=True,
)

CHILD_SOURCE = "parent_pipeline"
"""Source of child pipelines, which count only through the job that has started them."""
IS_NO_CHILD = pipelines.c.source != CHILD_SOURCE
"""Condition for the pipelines that stand for a commit, branch or merge request."""

IS_OF_NO_TRAIN = pipelines.c.source_sha.is_(None) | ~pipelines.c.ref.endswith(TRAIN_SUFFIX)
"""Condition for the pipelines that test no other merge requests."""

# A status that was superseded by another one with the same name is retained as retried; only the others count for the
# pipeline.
commit_statuses = Table(
    "commit_statuses",
    metadata,
    row_id(),
    reference("pipeline_id", "pipelines.id"),
    reference("user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("name"),
    text("stage"),
    text("status"),
    text("target_url", nullable=True),
    text("description", nullable=True),
    decimal("coverage", nullable=True),
    flag("allow_failure"),
    flag("retried"),
    text("created_at"),
    text("updated_at"),
    text("started_at", nullable=True),
    text("finished_at", nullable=True),
    Index("ix_commit_statuses_pipeline_id", "pipeline_id", "id"),
    Index(
        "uq_commit_statuses_latest",
        "pipeline_id",
        "name",
        unique=True,
        **index_where("NOT retried"),
    ),
    sqlite_autoincrement=True,
)


class Pipeline(Record, frozen=True):
    """Pipeline of a commit on a branch or tag."""

    id: int
    iid: int
    project_id: int
    user_id: int | None
    sha: str
    ref: str
    tag: bool
    source: str
    status: Status
    coverage: float | None
    duration: int | None
    yaml_errors: str | None
    created_at: Timestamp
    updated_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    before_sha: str | None
    name: str | None
    merge_request_id: int | None
    protected: bool
    on_new_commit: str | None
    on_job_failure: str | None
    origin_key: str | None
    source_sha: str | None
    target_sha: str | None

    @property
    def merge_request_event_type(self) -> MergeRequestEventType | None:
        """Kind of commit that a pipeline of a merge request tests: head, merge result, or state of a merge train."""
        if self.merge_request_id is None:
            return None
        if self.source_sha is None:
            return "detached"
        return "merge_train" if self.ref.endswith(TRAIN_SUFFIX) else "merged_result"


class CommitStatus(Record, frozen=True):
    """Reported status of a commit."""

    id: int
    pipeline_id: int
    user_id: int | None
    name: str
    stage: str
    status: Status
    target_url: str | None
    description: str | None
    coverage: float | None
    allow_failure: bool
    retried: bool
    created_at: Timestamp
    updated_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
