"""What changes pipelines: the statuses that are reported for commits."""

from typing import Any

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.errors import Invalid
from ingot.repositories.pipelines.events import PipelineChanged, StatusChanged
from ingot.repositories.pipelines.outcome import combined_status, mean_coverage, total_duration
from ingot.repositories.pipelines.queries import (
    find_pipeline,
    find_status,
    latest_status_or_none,
    lock_newest_pipeline,
    lock_pipeline,
    lock_project,
    next_iid,
    status_parts,
)
from ingot.repositories.pipelines.tables import CommitStatus, Pipeline, Status, commit_statuses, pipelines

EXTERNAL_STAGE = "external"
_FINISHED = ("success", "failed", "canceled")
# A status goes forward only; one that has come to its end is followed by a new one of its name.
_PROGRESS = {"pending": 0, "running": 1, "success": 2, "failed": 2, "canceled": 2}
_EVENTS = {"pending": "enqueue", "running": "run", "success": "success", "failed": "drop", "canceled": "cancel"}


class StatusReport(msgspec.Struct, frozen=True):
    """What somebody has to say of a commit; ``details`` are the columns that they told something for."""

    sha: str
    ref: str | None
    """Nothing only where the pipeline tells."""
    tag: bool
    pipeline_id: int | None
    name: str
    status: Status
    details: dict[str, Any]


def report_status(db: Connection, actor: Actor, project_id: int, report: StatusReport) -> int:
    """Add a status to the pipeline of a commit, or change the one of this name that is under way; gives its number."""
    pipeline = _pipeline_for(db, actor, project_id, report)
    held = latest_status_or_none(db, pipeline, report.name)
    moves = True
    if held is not None and held.status in _PROGRESS and held.status not in _FINISHED:
        _change_status(db, actor, held, report)
        moves = held.status != report.status
    else:
        if held is not None:
            db.update(commit_statuses, held.id, retried=True, updated_at=db.now)
        _add_status(db, actor, pipeline, report)
    becomes = _update_pipeline_status(db, pipeline)
    said = find_status(db, pipeline, report.name)
    if moves:
        emit(db, StatusChanged(pipeline.project_id, said))
    if becomes != pipeline.status:
        emit(db, PipelineChanged(pipeline.project_id, pipeline.id, pipeline.sha, pipeline.ref, becomes))
    return said.id


def _update_pipeline_status(db: Connection, pipeline: Pipeline) -> Status:
    """Let a pipeline, which must be held, follow from its statuses; says what it becomes."""
    parts = status_parts(db, pipeline)
    status = combined_status(parts)
    starts = [part.started_at for part in parts if part.started_at is not None]
    started_at = pipeline.started_at or min(starts, default=None)
    finished_at = pipeline.finished_at
    if status not in _FINISHED:
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


def _pipeline_for(db: Connection, actor: Actor, project_id: int, report: StatusReport) -> Pipeline:
    if report.pipeline_id is not None:
        return lock_pipeline(db, project_id, report.pipeline_id, report.sha, report.ref)
    pipeline = lock_newest_pipeline(db, project_id, report.sha, report.ref)
    if pipeline is None:
        lock_project(db, project_id)
        # Whoever held it before may have made the pipeline.
        pipeline = lock_newest_pipeline(db, project_id, report.sha, report.ref)
    return pipeline or _add_pipeline(db, actor, project_id, report)


def _add_pipeline(db: Connection, actor: Actor, project_id: int, report: StatusReport) -> Pipeline:
    pipeline_id = db.insert(
        pipelines,
        iid=next_iid(db, project_id),
        project_id=project_id,
        user_id=actor.user_id,
        sha=report.sha,
        ref=report.ref,
        tag=report.tag,
        source="external",
        status="created",
        created_at=db.now,
        updated_at=db.now,
    )
    return find_pipeline(db, project_id, pipeline_id)


def _add_status(db: Connection, actor: Actor, pipeline: Pipeline, report: StatusReport) -> None:
    db.insert(
        commit_statuses,
        pipeline_id=pipeline.id,
        user_id=actor.user_id,
        name=report.name,
        stage=EXTERNAL_STAGE,
        allow_failure=False,
        retried=False,
        created_at=db.now,
        **report.details,
        **_transition_columns(db, report.status),
    )


def _change_status(db: Connection, actor: Actor, held: CommitStatus, report: StatusReport) -> None:
    moved = {} if held.status == report.status else _transition_columns(db, report.status)
    back = _PROGRESS[report.status] < _PROGRESS[held.status]
    # Saying the same again is a change only where there is something else to say.
    if back or not (moved or report.details):
        event = _EVENTS[report.status]
        reason = f'Status cannot transition via "{event}"'
        raise Invalid(f"Cannot transition status via :{event} from :{held.status} (Reason(s): {reason})")
    row = {"user_id": actor.user_id, "updated_at": db.now, **report.details, **moved}
    db.update(commit_statuses, held.id, **row)


def _transition_columns(db: Connection, status: Status) -> dict[str, Any]:
    columns: dict[str, Any] = {"status": status, "updated_at": db.now}
    if status == "running":
        columns["started_at"] = db.now
    if status in _FINISHED:
        columns["finished_at"] = db.now
    return columns
