"""State changes of pipelines."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.pipelines.events import PipelineChanged
from ingot.pipelines.outcome import combined_status, mean_coverage, total_duration
from ingot.pipelines.queries import status_parts
from ingot.pipelines.tables import Pipeline, Status, pipelines

CANCEL_PIPELINES = "cancel_pipelines"
"""Kind of the job that cancels the pipelines of some ids."""
EXTERNAL_STAGE = "external"
FINISHED = ("success", "failed", "canceled")


def emit_pipeline_change(db: Connection, pipeline: Pipeline, status: Status) -> None:
    """Emit ``PipelineChanged`` if a pipeline had another status before."""
    if status != pipeline.status:
        emit_status(db, pipeline, status)


def emit_status(db: Connection, pipeline: Pipeline, status: Status) -> None:
    """Emit ``PipelineChanged`` with a new status."""
    ids = pipeline.project_id, pipeline.id
    emit(db, PipelineChanged(*ids, pipeline.sha, pipeline.ref, status, pipeline.source_sha, pipeline.merge_request_id))


def update_pipeline_status(db: Connection, pipeline: Pipeline) -> Status:
    """Recompute a locked pipeline from its statuses and return its status."""
    parts = status_parts(db, pipeline)
    status = combined_status(parts)
    starts = [part.started_at for part in parts if part.started_at is not None]
    started_at = pipeline.started_at or min(starts, default=None)
    finished_at = pipeline.finished_at
    if status not in FINISHED:
        finished_at = None
    elif status != pipeline.status or finished_at is None:
        finished_at = db.now
    db.update(
        pipelines,
        pipeline.id,
        status=status,
        coverage=mean_coverage(parts),
        duration=total_duration(parts, db.now) if started_at and finished_at else None,
        started_at=started_at,
        finished_at=finished_at,
        updated_at=db.now,
    )
    return status
