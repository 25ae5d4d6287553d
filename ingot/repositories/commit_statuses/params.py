"""Request parameters of statuses and pipelines."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

ReportableStatus = Literal["pending", "running", "success", "failed", "canceled"]


class ListStatuses(Params):
    """Filters of a commit's statuses; ``all`` includes superseded ones."""

    ref: str = ""
    stage: str = ""
    name: str = ""
    all: bool = False


class PostStatus(Params):
    """A commit status; ``context`` is an alias of ``name``."""

    state: ReportableStatus
    ref: str | None = None
    name: str | None = None
    context: str | None = None
    target_url: str | None = None
    description: str | None = None
    coverage: float | None = None
    pipeline_id: int | None = None


class ListPipelines(Params):
    """Filters and order of a project's pipelines."""

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
            "canceling",
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
    """Filter of a pipeline's statuses; ``all`` includes superseded ones."""

    all: bool = False


class GetLatestPipeline(Params):
    """Branch or tag; the default is the default branch."""

    ref: str = ""
