"""What callers may send about statuses and pipelines."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

ReportableStatus = Literal["pending", "running", "success", "failed", "canceled"]


class ListStatuses(Params):
    """Which of a commit's statuses; those that were followed by another one of their name only with ``all``."""

    ref: str = ""
    stage: str = ""
    name: str = ""
    all: bool = False


class PostStatus(Params):
    """What somebody has to say of a commit; ``context`` is another word for ``name``."""

    state: ReportableStatus
    ref: str | None = None
    name: str | None = None
    context: str | None = None
    target_url: str | None = None
    description: str | None = None
    coverage: float | None = None
    pipeline_id: int | None = None


class ListPipelines(Params):
    """Which of a project's pipelines, and in which order."""

    scope: Literal["running", "pending", "finished", "branches", "tags"] | None = None
    status: (
        Literal[
            "created",
            "waiting_for_resource",
            "preparing",
            "pending",
            "running",
            "success",
            "failed",
            "canceled",
            "skipped",
            "manual",
            "scheduled",
        ]
        | None
    ) = None
    ref: str = ""
    sha: str = ""
    source: str = ""
    username: str = ""
    name: str = ""
    yaml_errors: bool | None = None
    created_after: Timestamp | None = None
    created_before: Timestamp | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None
    order_by: Literal["id", "status", "ref", "updated_at", "user_id"] = "id"
    sort: Literal["asc", "desc"] = "desc"


class ListPipelineStatuses(Params):
    """Which of a pipeline's statuses; those that were followed by another one of their name only with ``all``."""

    all: bool = False


class ListPipelineJobs(Params):
    """The same by the words that are used of jobs; ``scope`` names statuses."""

    scope: list[str] | None = None
    include_retried: bool = False


class GetLatestPipeline(Params):
    """On which branch or tag; the default branch where none is named."""

    ref: str = ""
