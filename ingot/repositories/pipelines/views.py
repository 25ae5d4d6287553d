"""Response structs of pipelines."""

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.git.history.commits import NO_OID
from ingot.repositories.pipelines.tables import Pipeline, Status


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


def pipeline_brief(pipeline: Pipeline, project_url: str) -> PipelineBrief:
    """Return the brief view of a pipeline."""
    return PipelineBrief(*_brief(pipeline, project_url))


def pipeline_view(db: Connection, pipeline: Pipeline, project_url: str, base: str) -> PipelineView:
    """Return the full view of a pipeline."""
    user = user_or_none(db, pipeline.user_id) if pipeline.user_id is not None else None
    return PipelineView(
        *_brief(pipeline, project_url),
        before_sha=NO_OID,
        tag=pipeline.tag,
        yaml_errors=pipeline.yaml_errors,
        user=user_brief(user, base) if user else None,
        started_at=pipeline.started_at,
        finished_at=pipeline.finished_at,
        committed_at=None,
        duration=pipeline.duration,
        coverage=None if pipeline.coverage is None else f"{pipeline.coverage:.2f}",
    )


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
