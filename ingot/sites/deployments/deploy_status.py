"""The commit status ``pages:deploy``, which shows in the pipeline of a job whether its site was deployed."""

from ingot.ci.job_records.tables import CiJob
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.pipelines.events import StatusChanged
from ingot.pipelines.queries import latest_status_or_none, lock_pipeline_by_id, statuses_by_ids
from ingot.pipelines.service import emit_pipeline_change, update_pipeline_status
from ingot.pipelines.tables import Status, commit_statuses

_NAME = "pages:deploy"
_STAGE = "deploy"
_MAX_DESCRIPTION = 500


def report_deployment(
    db: Connection, job: CiJob, status: Status, description: str | None = None, target_url: str | None = None
) -> None:
    """Record the state of the deployment of a job in its pipeline."""
    pipeline = lock_pipeline_by_id(db, job.pipeline_id)
    if pipeline is None:
        return
    current = latest_status_or_none(db, pipeline, _NAME)
    columns = {
        "status": status,
        "description": None if description is None else description[:_MAX_DESCRIPTION],
        "target_url": target_url,
        "updated_at": db.now,
    }
    if status == "running":
        columns["started_at"] = db.now
    else:
        columns["finished_at"] = db.now
    if current is not None and current.status == "running":
        status_id = current.id
        db.update(commit_statuses, status_id, **columns)
    else:
        if current is not None:
            db.update(commit_statuses, current.id, retried=True, updated_at=db.now)
        status_id = db.insert(
            commit_statuses,
            pipeline_id=pipeline.id,
            user_id=job.user_id,
            name=_NAME,
            stage=_STAGE,
            allow_failure=False,
            retried=False,
            created_at=db.now,
            **columns,
        )
    pipeline_status = update_pipeline_status(db, pipeline)
    emit(db, StatusChanged(pipeline.project_id, pipeline.id, tuple(statuses_by_ids(db, [status_id])), pipeline.ref))
    emit_pipeline_change(db, pipeline, pipeline_status)
