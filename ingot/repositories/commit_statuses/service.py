"""Reports of commit statuses: they change the pipeline of the commit."""

from typing import Any

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid
from ingot.core.events.bus import emit
from ingot.pipelines.events import StatusChanged
from ingot.pipelines.queries import (
    find_pipeline,
    find_status,
    latest_status_or_none,
    lock_newest_pipeline,
    lock_pipeline,
    lock_project,
    next_iid,
)
from ingot.pipelines.service import EXTERNAL_STAGE, FINISHED, emit_pipeline_change, update_pipeline_status
from ingot.pipelines.tables import CommitStatus, Pipeline, Status, commit_statuses, pipelines
from ingot.repositories.protection.policy import may_update_branch, may_update_tag
from ingot.repositories.protection.queries import branch_rules, tag_rules

# A status only moves forward; a report after a final status creates a new status with the same name.
_PROGRESS = {"pending": 0, "running": 1, "success": 2, "failed": 2, "canceled": 2}
_EVENTS = {"pending": "enqueue", "running": "run", "success": "success", "failed": "drop", "canceled": "cancel"}


class StatusReport(msgspec.Struct, frozen=True):
    """A reported commit status; ``details`` contains only the columns that the report sets."""

    sha: str
    ref: str | None
    """None only if ``pipeline_id`` is set."""
    tag: bool
    pipeline_id: int | None
    name: str
    status: Status
    details: dict[str, Any]


def report_status(db: Connection, actor: Actor, access: Access, project_id: int, report: StatusReport) -> int:
    """Add a status to the pipeline of a commit, or update the unfinished one with this name; return its id.

    Raise Denied for a pipeline of a protected branch or tag that the caller may not update.
    """
    pipeline = _pipeline_for(db, actor, project_id, report)
    _require_open_ref(db, actor, access, pipeline)
    current = latest_status_or_none(db, pipeline, report.name)
    status_changed = True
    if current is not None and current.status in _PROGRESS and current.status not in FINISHED:
        _change_status(db, actor, current, report)
        status_changed = current.status != report.status
    else:
        if current is not None:
            db.update(commit_statuses, current.id, retried=True, updated_at=db.now)
        _add_status(db, actor, pipeline, report)
    pipeline_status = update_pipeline_status(db, pipeline)
    status = find_status(db, pipeline, report.name)
    if status_changed:
        emit(db, StatusChanged(pipeline.project_id, pipeline.id, (status,), pipeline.ref))
    emit_pipeline_change(db, pipeline, pipeline_status)
    return status.id


def _pipeline_for(db: Connection, actor: Actor, project_id: int, report: StatusReport) -> Pipeline:
    if report.pipeline_id is not None:
        return lock_pipeline(db, project_id, report.pipeline_id, report.sha, report.ref)
    pipeline = lock_newest_pipeline(db, project_id, report.sha, report.ref)
    if pipeline is None:
        lock_project(db, project_id)
        # Another transaction may have added the pipeline while this one waited for the lock.
        pipeline = lock_newest_pipeline(db, project_id, report.sha, report.ref)
    return pipeline or _add_pipeline(db, actor, project_id, report)


def _require_open_ref(db: Connection, actor: Actor, access: Access, pipeline: Pipeline) -> None:
    if pipeline.tag:
        allowed = may_update_tag(actor, access, tag_rules(db, pipeline.project_id), pipeline.ref)
    else:
        allowed = may_update_branch(actor, access, branch_rules(db, pipeline.project_id), pipeline.ref)
    if not allowed:
        raise Denied


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
    db.insert_row(
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


def _change_status(db: Connection, actor: Actor, current: CommitStatus, report: StatusReport) -> None:
    transition = {} if current.status == report.status else _transition_columns(db, report.status)
    is_backward = _PROGRESS[report.status] < _PROGRESS[current.status]
    # Reporting an unchanged status is only valid if it changes details.
    if is_backward or not (transition or report.details):
        event = _EVENTS[report.status]
        reason = f'Status cannot transition via "{event}"'
        raise Invalid(f"Cannot transition status via :{event} from :{current.status} (Reason(s): {reason})")
    row = {"user_id": actor.user_id, "updated_at": db.now, **report.details, **transition}
    db.update(commit_statuses, current.id, **row)


def _transition_columns(db: Connection, status: Status) -> dict[str, Any]:
    columns: dict[str, Any] = {"status": status, "updated_at": db.now}
    if status == "running":
        columns["started_at"] = db.now
    if status in FINISHED:
        columns["finished_at"] = db.now
    return columns
