"""State changes of pipelines and jobs that users request."""

from ingot.accounts.instance.all_settings import all_settings
from ingot.ci.config.durations import parse_duration
from ingot.ci.job_records.ports import JobArtifacts
from ingot.ci.job_records.queries import job_by_id, jobs_of_pipeline, lock_job
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.deploy_permission import may_run_job, refused_deployments
from ingot.ci.pipelines.deployments import is_outdated_deployment
from ingot.ci.pipelines.hierarchy import cancel_children, upstream_link, with_descendants
from ingot.ci.pipelines.processing import CANCELABLE, advance_pipeline, cancel_jobs, finish_job, restart_jobs
from ingot.ci.pipelines.ref_protection import may_run_jobs_of
from ingot.ci.pipelines.retries import copy_job
from ingot.ci.pipelines.transitions import set_columns, set_status
from ingot.collaboration.merge_requests.merge.train_queries import car_of_pipeline
from ingot.collaboration.merge_requests.merge.train_service import enqueue_advance
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import TRAIN_SUFFIX, Pipeline, Status, pipelines
from ingot.projects.projects.queries import find_project

OUTDATED_DEPLOYMENT = "The deployment job is older than the latest deployment"
REMOVE_PIPELINE_REFS = "remove_pipeline_refs"
RETRYABLE: frozenset[Status] = frozenset({"success", "failed", "canceled"})
_STARTABLE: frozenset[Status] = frozenset({"manual", "scheduled"})


def play_job(db: Connection, actor: Actor, job: CiJob) -> CiJob:
    """Start a manual or delayed job, or a finished manual job again; return the job that starts."""
    pipeline = _locked_pipeline(db, actor, job.pipeline_id, job)
    job = _current(db, job)
    _require_not_archived(db, pipeline)
    _require_train(db, pipeline)
    _require_current_deployment(db, job, pipeline)
    if job.status in _STARTABLE and not job.retried:
        set_columns(db, job, user_id=actor.user_id)
        restart_jobs(db, pipeline, [(job.id, job.name)])
        return _current(db, job)
    if job.run_when == "manual" and job.status in RETRYABLE and not job.retried:
        return _retry(db, actor, pipeline, job)
    raise Invalid("400 (Bad request) Unplayable Job")


def retry_job(db: Connection, actor: Actor, job: CiJob) -> CiJob:
    """Add another attempt of a finished job and queue it; jobs after it that were skipped may run again."""
    pipeline = _locked_pipeline(db, actor, job.pipeline_id, job)
    job = _current(db, job)
    if job.status not in RETRYABLE or job.retried:
        raise Denied("Job is not retryable")
    _require_not_archived(db, pipeline)
    _require_train(db, pipeline)
    _require_current_deployment(db, job, pipeline)
    return _retry(db, actor, pipeline, job)


def _require_not_archived(db: Connection, pipeline: Pipeline) -> None:
    """Raise Denied if the settings archive the jobs of pipelines of this age."""
    age = parse_duration(all_settings(db).archive_builds_in_human_readable or "")
    if age is not None and pipeline.created_at < add_duration(db.now, seconds=-age):
        raise Denied("Job is archived")


def _require_train(db: Connection, pipeline: Pipeline) -> None:
    """Raise Denied for a pipeline of a merge train that tests no merge request any more."""
    if pipeline.ref.endswith(TRAIN_SUFFIX) and car_of_pipeline(db, pipeline.id) is None:
        raise Denied("The merge request has left the merge train; add it again instead")


def _require_current_deployment(db: Connection, job: CiJob, pipeline: Pipeline) -> None:
    if is_outdated_deployment(db, job, pipeline):
        raise Denied(OUTDATED_DEPLOYMENT)


def _retry(db: Connection, actor: Actor, pipeline: Pipeline, job: CiJob) -> CiJob:
    job_id = copy_job(db, job, actor.user_id)
    restart_jobs(db, pipeline, [(job_id, job.name)])
    attempt = job_by_id(db, job_id)
    if attempt is None:
        raise NotFound("Job")
    return attempt


def cancel_job(db: Connection, job: CiJob) -> None:
    """Cancel a job that has not ended; another one stays as it is."""
    pipeline = lock_pipeline_by_id(db, job.pipeline_id)
    job = _current(db, job)
    if pipeline is not None and job.status in CANCELABLE:
        cancel_jobs(db, pipeline, [job])


def retry_pipeline(db: Connection, actor: Actor, pipeline: Pipeline) -> None:
    """Add another attempt of every failed or canceled job that the user may run, and process the pipeline again."""
    pipeline = _locked_pipeline(db, actor, pipeline.id)
    _require_not_archived(db, pipeline)
    _require_train(db, pipeline)
    jobs = jobs_of_pipeline(db, pipeline.id)
    failed = [job for job in jobs if job.status in ("failed", "canceled")]
    refused = refused_deployments(db, actor, pipeline.project_id, failed)
    copies = [
        copy_job(db, job, actor.user_id)
        for job in failed
        if job.environment not in refused and not is_outdated_deployment(db, job, pipeline)
    ]
    skipped = [job.id for job in jobs if job.status == "skipped"]
    if skipped:
        set_status(db, skipped, "created")
    if copies or skipped:
        advance_pipeline(db, pipeline, [*copies, *skipped])


def cancel_pipeline(db: Connection, actor: Actor, pipeline: Pipeline) -> None:
    """Cancel every job of a pipeline that has not ended."""
    locked = _locked_pipeline(db, actor, pipeline.id)
    cancelable = [job for job in jobs_of_pipeline(db, locked.id) if job.status in CANCELABLE]
    if cancelable:
        cancel_jobs(db, locked, cancelable)
    cancel_children(db, locked.id)


def rename_pipeline(db: Connection, pipeline: Pipeline, name: str) -> None:
    """Change the name of a pipeline."""
    name = name.strip()
    if not name:
        raise Invalid(name=["can't be blank"])
    db.update(pipelines, pipeline.id, name=name)


def delete_pipeline(db: Connection, pipeline: Pipeline) -> None:
    """Delete a pipeline with its jobs and child pipelines; files and refs are removed by jobs of the queue."""
    _end_waiting_job(db, pipeline)
    car = car_of_pipeline(db, pipeline.id) if pipeline.merge_request_event_type == "merge_train" else None
    if car is not None:
        enqueue_advance(db, car.project_id, car.target_branch)
    pipeline_ids = with_descendants(db, pipeline.id)
    for pipeline_id in pipeline_ids:
        db.ports[JobArtifacts].delete_files(db, [job.id for job in jobs_of_pipeline(db, pipeline_id, retried=True)])
        db.delete(pipelines, pipeline_id)
    enqueue(db, REMOVE_PIPELINE_REFS, (pipeline.project_id, pipeline_ids))


def _end_waiting_job(db: Connection, pipeline: Pipeline) -> None:
    """Fail the job that waits for a pipeline which is about to be deleted."""
    link = upstream_link(db, pipeline.id)
    job = None if link is None else lock_job(db, link.job_id)
    if job is not None and job.status == "running":
        finish_job(db, job, "failed", "unknown_failure")


def _locked_pipeline(db: Connection, actor: Actor, pipeline_id: int, job: CiJob | None = None) -> Pipeline:
    """Lock a pipeline; raise Denied if the user may not run jobs on its branch or tag, or the given job."""
    pipeline = lock_pipeline_by_id(db, pipeline_id)
    if pipeline is None:
        raise NotFound("Pipeline")
    access, project = find_project(db, actor, pipeline.project_id)
    if job is None:
        allowed = may_run_jobs_of(db, actor, access, project, pipeline)
    else:
        allowed = may_run_job(db, actor, access, project, pipeline, job)
    if not allowed:
        raise Denied
    return pipeline


def _current(db: Connection, job: CiJob) -> CiJob:
    """Return a job as it is now that its pipeline is locked."""
    current = job_by_id(db, job.id)
    if current is None:
        raise NotFound("Job")
    return current
