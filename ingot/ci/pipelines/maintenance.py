"""Jobs of the queue that keep pipelines moving: delays, timeouts, dead runners, resource groups and refs."""

from functools import partial
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.ci.job_records.queries import lock_job
from ingot.ci.job_records.tables import FailureReason
from ingot.ci.pipelines.processing import finish_job, requeue_job, restart_jobs
from ingot.ci.pipelines.service import REMOVE_PIPELINE_REFS
from ingot.ci.pipelines.stuck_jobs import awaited_resources, stuck_jobs, undelivered_jobs
from ingot.ci.pipelines.transitions import assign_resource
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import one_of
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import enqueue
from ingot.git.core.errors import MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.pipeline_refs import delete_pipeline_refs
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import pipelines
from ingot.projects.projects.queries import project_or_none

REF_DAYS = 30
"""Age of an ended pipeline at which its ref is removed."""
_OLD = (
    select(pipelines.c.project_id, pipelines.c.id)
    .where(
        pipelines.c.updated_at > bindparam("start"),
        pipelines.c.updated_at <= bindparam("end"),
        one_of(pipelines.c.status, "success", "failed", "canceled", "skipped"),
    )
    .order_by(pipelines.c.project_id, pipelines.c.id)
)


def enqueue_old_ref_removal(db: Connection) -> None:
    """Enqueue the removal of refs of pipelines that ended a month ago, so that repositories do not collect them.

    Runs daily and covers two days, in case one run is missed. A job that is retried later creates its ref again.
    """
    start, end = (add_duration(db.now, days=-days) for days in (REF_DAYS + 2, REF_DAYS))
    by_project: dict[int, list[int]] = {}
    for project_id, pipeline_id in db.rows(_OLD, start=start, end=end):
        by_project.setdefault(project_id, []).append(pipeline_id)
    for project_id, pipeline_ids in by_project.items():
        enqueue(db, REMOVE_PIPELINE_REFS, (project_id, pipeline_ids))


def start_delayed_job(database: Database, payload: Any) -> None:
    """Queue a delayed job whose time has come."""
    database.write(partial(_start_delayed, job_id=msgspec.convert(payload, int)))


def _start_delayed(db: Connection, job_id: int) -> None:
    job = lock_job(db, job_id)
    if job is None or job.status != "scheduled" or job.scheduled_at is None or job.scheduled_at > db.now:
        return
    pipeline = lock_pipeline_by_id(db, job.pipeline_id)
    if pipeline is not None:
        restart_jobs(db, pipeline, [(job.id, job.name)])


def drop_stuck_jobs(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler takes a payload.
    """Queue undelivered jobs again, end those that do not progress, and assign free resources."""
    for job_id in database.read(undelivered_jobs):
        database.write(partial(_requeue, job_id=job_id))
    for job_id, reason in database.read(stuck_jobs):
        database.write(partial(_drop, job_id=job_id, reason=reason))
    for project_id, group in database.read(awaited_resources):
        assign_resource(database, project_id, group)


def _requeue(db: Connection, job_id: int) -> None:
    job = lock_job(db, job_id)
    if job is not None and job.status == "running" and job_id in undelivered_jobs(db):
        requeue_job(db, job)


def _drop(db: Connection, job_id: int, reason: FailureReason) -> None:
    """End a job unless it has made progress since it was found."""
    job = lock_job(db, job_id)
    if job is not None and (job_id, reason) in stuck_jobs(db):
        finish_job(db, job, "failed", reason)


class PipelineRefJob:
    """Removes the refs of deleted pipelines."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def run(self, database: Database, payload: Any) -> None:
        """Run the job."""
        project_id, pipeline_ids = msgspec.convert(payload, tuple[int, list[int]])
        project = database.read(partial(project_or_none, project_id=project_id))
        if project is None:
            return
        try:
            delete_pipeline_refs(self._store.open(project.repository_key), pipeline_ids)
        except MissingRepository:  # Deleted in the meantime.
            return
