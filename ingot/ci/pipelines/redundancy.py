"""Automatic cancellation of pipelines that a newer pipeline of the branch makes redundant."""

from functools import partial

from sqlalchemy import bindparam, func, select

from ingot.ci.job_records.queries import jobs_of_pipeline
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.hierarchy import cancel_children
from ingot.ci.pipelines.processing import CANCELABLE, cancel_jobs
from ingot.ci.pipelines.queries import settings_of
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import one_of
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import IS_OF_NO_TRAIN, Pipeline, pipelines

SOURCES = ("push", "merge_request_event")
"""Sources of pipelines that make others redundant and that can become redundant."""
_MAX_PIPELINES = 100
_OLDER = (
    select(pipelines.c.id)
    .where(
        pipelines.c.project_id == bindparam("project"),
        # Pipelines of a merge request test its head or its merge result; those of merge trains are not replaced here.
        (pipelines.c.ref == bindparam("ref")) | ((bindparam("merge_request") != 0) & IS_OF_NO_TRAIN),
        pipelines.c.id < bindparam("newest"),
        pipelines.c.sha != bindparam("sha"),
        # Merge requests of a fork to different projects may have the same number, and so the same ref.
        func.coalesce(pipelines.c.merge_request_id, 0) == bindparam("merge_request"),
        ~pipelines.c.tag,
        one_of(pipelines.c.source, *SOURCES),
        one_of(pipelines.c.status, "created", "waiting_for_resource", "pending", "running", "manual", "scheduled"),
    )
    .order_by(pipelines.c.id.desc())
    .limit(_MAX_PIPELINES)
)


def cancel_redundant_pipelines(database: Database, newest: Pipeline) -> None:
    """Cancel older pipelines of the branch or merge request, each in its own transaction."""
    if newest.source not in SOURCES or newest.tag or newest.merge_request_event_type == "merge_train":
        return
    for pipeline_id in database.read(partial(_redundant_ids, newest=newest)):
        database.write(partial(_cancel, pipeline_id=pipeline_id))


def _redundant_ids(db: Connection, newest: Pipeline) -> list[int]:
    older = db.rows(
        _OLDER,
        project=newest.project_id,
        ref=newest.ref,
        newest=newest.id,
        sha=newest.sha,
        merge_request=newest.merge_request_id or 0,
    )
    if not older or not settings_of(db, newest.project_id).auto_cancel_pending_pipelines:
        return []
    return [pipeline_id for (pipeline_id,) in older]


def _cancel(db: Connection, pipeline_id: int) -> None:
    pipeline = lock_pipeline_by_id(db, pipeline_id)
    if pipeline is None or pipeline.on_new_commit == "none":
        return
    jobs = jobs_of_pipeline(db, pipeline.id)
    cancelable = [job for job in jobs if job.status in CANCELABLE]
    if pipeline.on_new_commit == "interruptible":
        cancelable = [job for job in cancelable if job.interruptible]
    elif any(_prevents_cancellation(job) for job in jobs):
        return
    if cancelable:
        cancel_jobs(db, pipeline, cancelable)
        cancel_children(db, pipeline.id)


def _prevents_cancellation(job: CiJob) -> bool:
    """Return whether a job has started that must not be interrupted."""
    return job.started_at is not None and not job.interruptible
