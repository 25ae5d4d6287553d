"""Response structs of pipelines."""

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.git.history.commits import NO_OID
from ingot.pipelines.queries import has_allowed_failures
from ingot.pipelines.tables import MergeRequestEventType, Pipeline, Status

_STATUS_TEXTS: dict[Status, tuple[str, str, str]] = {
    "created": ("Created", "created", "created"),
    "waiting_for_resource": ("Waiting", "waiting for resource", "waiting-for-resource"),
    "pending": ("Pending", "pending", "pending"),
    "running": ("Running", "running", "running"),
    "success": ("Passed", "passed", "success"),
    "failed": ("Failed", "failed", "failed"),
    "canceling": ("Canceling", "canceling", "canceling"),
    "canceled": ("Canceled", "canceled", "canceled"),
    "skipped": ("Skipped", "skipped", "skipped"),
    "manual": ("Blocked", "waiting for manual action", "manual"),
    "scheduled": ("Delayed", "waiting for delayed job", "scheduled"),
}
"""Text, label and group of each status."""


class PipelineBrief(View):
    """A pipeline in lists and in other responses."""

    id: int
    iid: int
    project_id: int
    sha: str
    ref: str
    status: Status
    source: str
    created_at: Timestamp
    updated_at: Timestamp
    web_url: str


class DetailedStatusView(View):
    """A status with the texts that clients show."""

    icon: str
    text: str
    label: str
    group: str
    tooltip: str
    has_details: bool
    details_path: str
    illustration: None
    favicon: str


class PipelineView(PipelineBrief):
    """A pipeline with all details; ``committed_at`` is always null."""

    before_sha: str
    tag: bool
    yaml_errors: str | None
    user: UserBrief | None
    started_at: Timestamp | None
    finished_at: Timestamp | None
    committed_at: Timestamp | None
    duration: int | None
    coverage: str | None
    name: str | None
    queued_duration: int | None
    detailed_status: DetailedStatusView
    merge_request_event_type: MergeRequestEventType | None


def pipeline_brief(pipeline: Pipeline, project_url: str) -> PipelineBrief:
    """Return the brief view of a pipeline."""
    return PipelineBrief(*_brief(pipeline, project_url))


def pipeline_view(db: Connection, pipeline: Pipeline, project_url: str, base: str) -> PipelineView:
    """Return the full view of a pipeline."""
    user = user_or_none(db, pipeline.user_id) if pipeline.user_id is not None else None
    return PipelineView(
        *_brief(pipeline, project_url),
        before_sha=pipeline.before_sha or NO_OID,
        tag=pipeline.tag,
        yaml_errors=pipeline.yaml_errors,
        user=user_brief(user, base) if user else None,
        started_at=pipeline.started_at,
        finished_at=pipeline.finished_at,
        committed_at=None,
        duration=pipeline.duration,
        coverage=None if pipeline.coverage is None else f"{pipeline.coverage:.2f}",
        name=pipeline.name,
        queued_duration=_queued_seconds(pipeline),
        detailed_status=_detailed_status(db, pipeline, project_url, base),
        merge_request_event_type=pipeline.merge_request_event_type,
    )


def _queued_seconds(pipeline: Pipeline) -> int | None:
    if pipeline.started_at is None:
        return None
    return int((to_datetime(pipeline.started_at) - to_datetime(pipeline.created_at)).total_seconds())


def _detailed_status(db: Connection, pipeline: Pipeline, project_url: str, base: str) -> DetailedStatusView:
    path = f"{project_url}/-/pipelines/{pipeline.id}".removeprefix(base)
    if pipeline.status == "success" and has_allowed_failures(db, pipeline):
        text, label, group = "Warning", "passed with warnings", "success-with-warnings"
        icon = "status_warning"
    else:
        text, label, group = _STATUS_TEXTS[pipeline.status]
        icon = f"status_{group.replace('-', '_')}"
    return DetailedStatusView(icon, text, label, group, label, True, path, None, "/favicon.ico")


def _brief(
    pipeline: Pipeline, project_url: str
) -> tuple[int, int, int, str, str, Status, str, Timestamp, Timestamp, str]:
    return (
        pipeline.id,
        pipeline.iid,
        pipeline.project_id,
        pipeline.sha,
        pipeline.ref,
        pipeline.status,
        pipeline.source,
        pipeline.created_at,
        pipeline.updated_at,
        f"{project_url}/-/pipelines/{pipeline.id}",
    )
