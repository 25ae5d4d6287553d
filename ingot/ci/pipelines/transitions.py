"""Status changes of jobs in the database: columns, queue of pending jobs and resource groups."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import Table, Text, bindparam, delete, insert, select, update

from ingot.ci.job_records.queries import STATUS_COLUMNS, job_by_id, lock_job, options_of
from ingot.ci.job_records.tables import CiJob, ci_jobs, ci_queue, ci_running
from ingot.ci.pipelines.queries import is_resource_occupied, next_job_of_resource
from ingot.ci.runners.queue_version import announce_queue_change
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.db.times import add_duration
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.events import StatusChanged
from ingot.pipelines.queries import lock_pipeline_by_id, statuses_by_ids
from ingot.pipelines.service import emit_pipeline_change, update_pipeline_status
from ingot.pipelines.tables import Pipeline, Status, commit_statuses

START_DELAYED_JOB = "start_delayed_job"
START_DOWNSTREAM_PIPELINE = "start_downstream_pipeline"
ENDED: frozenset[Status] = frozenset({"success", "failed", "canceled", "skipped"})
_WAITING: frozenset[Status] = frozenset({"created", "waiting_for_resource", "pending", "manual", "scheduled"})
_EXECUTED: frozenset[Status] = frozenset({"running", "canceling"})
_QUEUE = insert(ci_queue).from_select(
    ["job_id", "project_id", "tags", "protected", "queued_at"],
    select(ci_jobs.c.id, ci_jobs.c.project_id, ci_jobs.c.tags, ci_jobs.c.protected, bindparam("now", type_=Text)).where(
        in_list(ci_jobs.c.id, "ids"), ~ci_jobs.c.bridge
    ),
)
_BRIDGES = select(ci_jobs.c.id).where(in_list(ci_jobs.c.id, "ids"), ci_jobs.c.bridge).order_by(ci_jobs.c.id)
_DEQUEUE = delete(ci_queue).where(in_list(ci_queue.c.job_id, "ids"))
_END_EXECUTION = delete(ci_running).where(in_list(ci_running.c.job_id, "ids"))


@lru_cache(maxsize=64)
def _update(table: Table, columns: tuple[str, ...]) -> Any:
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in columns}
    return update(table).where(in_list(table.c.id, "ids")).values(values)


def _set_columns(db: Connection, table: Table, job_ids: Sequence[int], columns: dict[str, Any]) -> None:
    if columns:
        statement = _update(table, tuple(sorted(columns)))
        db.run(statement, ids=list(job_ids), **{f"new_{name}": value for name, value in columns.items()})


def set_status(db: Connection, job_ids: Sequence[int], status: Status, **columns: Any) -> None:
    """Change the status of jobs of a locked pipeline, and the rows of the queue; emits no event."""
    of_status: dict[str, Any] = {"status": status, "updated_at": db.now}
    of_job: dict[str, Any] = {}
    if status == "running":
        of_status["started_at"] = db.now
    elif status in ENDED and status != "skipped":
        of_status["finished_at"] = db.now
    elif status in _WAITING:
        of_status |= {"started_at": None, "finished_at": None}
    if status == "pending":
        of_job["queued_at"] = db.now
    if status != "scheduled":
        of_job["scheduled_at"] = None
    for name, value in columns.items():
        (of_status if name in STATUS_COLUMNS else of_job)[name] = value
    _set_columns(db, commit_statuses, job_ids, of_status)
    _set_columns(db, ci_jobs, job_ids, of_job)
    if status == "pending":
        db.run(_QUEUE, ids=list(job_ids), now=db.now)
        announce_queue_change(db)
        for (job_id,) in db.rows(_BRIDGES, ids=list(job_ids)):
            enqueue(db, START_DOWNSTREAM_PIPELINE, job_id)
    else:
        db.run(_DEQUEUE, ids=list(job_ids))
    if status not in _EXECUTED:
        db.run(_END_EXECUTION, ids=list(job_ids))


def set_columns(db: Connection, job: CiJob, **columns: Any) -> None:
    """Set columns of a job that do not change its status."""
    of_status = {name: value for name, value in columns.items() if name in STATUS_COLUMNS}
    _set_columns(db, commit_statuses, [job.id], {**of_status, "updated_at": db.now})
    _set_columns(db, ci_jobs, [job.id], {name: value for name, value in columns.items() if name not in of_status})


def schedule(db: Connection, job_id: int) -> None:
    """Start the delay of a job."""
    job = job_by_id(db, job_id)
    if job is not None:
        start_at = add_duration(db.now, seconds=options_of(job).start_in or 0)
        set_status(db, [job_id], "scheduled", scheduled_at=start_at)
        enqueue(db, START_DELAYED_JOB, job_id, run_at=start_at)


def enqueue_jobs(db: Connection, project_id: int, jobs: Iterable[tuple[int, str | None]]) -> None:
    """Queue jobs, given with their resource groups; those of an occupied group wait for it."""
    free, waiting = [], []
    taken: set[str] = set()
    for job_id, group in jobs:
        if group is None:
            free.append(job_id)
        elif group in taken or _is_occupied(db, project_id, group):
            waiting.append(job_id)
        else:
            taken.add(group)
            free.append(job_id)
    if free:
        set_status(db, free, "pending")
    if waiting:
        set_status(db, waiting, "waiting_for_resource")


def _is_occupied(db: Connection, project_id: int, group: str) -> bool:
    db.lock(f"resource group {project_id} {group}")
    return is_resource_occupied(db, project_id, group)


def release_resource(db: Connection, job: CiJob) -> None:
    """Let the next job of a resource group start after the commit; a recurring job does it after a crash."""
    if job.resource_group is not None:
        db.after_transaction(partial(assign_resource, project_id=job.project_id, group=job.resource_group))


def assign_resource(database: Database, project_id: int, group: str) -> None:
    """Queue the next job that waits for a resource group, if the group is free."""
    job_id = database.read(partial(next_job_of_resource, project_id=project_id, resource_group=group))
    if job_id is not None:
        database.write(partial(_assign, job_id=job_id))


def _assign(db: Connection, job_id: int) -> None:
    # The pipeline is locked before the group, as everywhere.
    job = lock_job(db, job_id)
    if job is None or job.status != "waiting_for_resource" or job.resource_group is None:
        return
    pipeline = lock_pipeline_by_id(db, job.pipeline_id)
    if pipeline is not None and not _is_occupied(db, job.project_id, job.resource_group):
        set_status(db, [job.id], "pending")
        settle_pipeline(db, pipeline, [job.id])


def settle_pipeline(db: Connection, pipeline: Pipeline, changed: Iterable[int]) -> None:
    """Update a locked pipeline from its jobs, and emit the events of the changed jobs and of the pipeline."""
    status = update_pipeline_status(db, pipeline)
    statuses = statuses_by_ids(db, sorted(set(changed)))
    if statuses:
        emit(db, StatusChanged(pipeline.project_id, pipeline.id, tuple(statuses), pipeline.ref))
    emit_pipeline_change(db, pipeline, status)
