"""Progress of pipelines: each step applies the state machine to the jobs of one locked pipeline."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ingot.ci.job_records.queries import job_by_id, jobs_of_pipeline, options_of
from ingot.ci.job_records.tables import CiJob, FailureReason, ci_running
from ingot.ci.pipelines.deploy_permission import refused_job_ids
from ingot.ci.pipelines.deployments import finish_deployment, start_deployment
from ingot.ci.pipelines.hierarchy import cancel_children_of_jobs
from ingot.ci.pipelines.queries import PipelineJobs, pipeline_jobs, settings_of
from ingot.ci.pipelines.retries import copy_job, is_retried_automatically
from ingot.ci.pipelines.state_machine import advance, restore_skipped
from ingot.ci.pipelines.transitions import (
    ENDED,
    enqueue_jobs,
    release_resource,
    schedule,
    set_columns,
    set_status,
    settle_pipeline,
)
from ingot.ci.runners.tables import Runner
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import NotFound
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import Pipeline, Status

DEPLOY_SITE = "deploy_site"
"""Kind of the job that publishes the artifacts of a job as a static site."""
TOKEN_PREFIX = "glcbt-"  # noqa: S105 - A prefix, not a token.
_TOKEN_BYTES = 20
DEADLINE_GRACE_SECONDS = 300
"""Time after the timeout of a job in which its runner should have reported the timeout itself."""
CANCELABLE: frozenset[Status] = frozenset({"created", "waiting_for_resource", "pending", "running", "scheduled"})


def _locked(db: Connection, pipeline_id: int) -> Pipeline:
    pipeline = lock_pipeline_by_id(db, pipeline_id)
    if pipeline is None:
        raise NotFound("Pipeline")
    return pipeline


def change_job(db: Connection, job: CiJob, status: Status, **columns: Any) -> CiJob:
    """Change the status and other columns of a job, and update its pipeline; other jobs do not follow."""
    if status == job.status:
        set_columns(db, job, **columns)
    else:
        pipeline = _locked(db, job.pipeline_id)
        set_status(db, [job.id], status, **columns)
        settle_pipeline(db, pipeline, [job.id])
    return _changed(db, job)


def _changed(db: Connection, job: CiJob) -> CiJob:
    changed = job_by_id(db, job.id)
    if changed is None:
        raise NotFound("Job")
    return changed


def process_pipeline(db: Connection, pipeline_id: int) -> None:
    """Start, skip or schedule the jobs whose predecessors have ended, and update the pipeline."""
    advance_pipeline(db, _locked(db, pipeline_id))


def advance_pipeline(db: Connection, pipeline: Pipeline, changed: Iterable[int] = ()) -> None:
    """Process a locked pipeline after some of its jobs have changed."""
    jobs = pipeline_jobs(db, pipeline.id)
    ids_by_status: dict[Status, list[int]] = {}
    for transition in advance(jobs.states):
        ids_by_status.setdefault(transition.status, []).append(transition.job_id)
    all_changed = [*changed, *(job_id for ids in ids_by_status.values() for job_id in ids)]
    for job_id in ids_by_status.pop("scheduled", ()):
        schedule(db, job_id)
    refused = _queue(db, pipeline, jobs, ids_by_status.pop("pending", ()))
    for status, ids in ids_by_status.items():
        set_status(db, ids, status)
    if refused:
        _continue_after_failures(db, pipeline, refused, all_changed)
    else:
        settle_pipeline(db, pipeline, all_changed)


def _queue(db: Connection, pipeline: Pipeline, jobs: PipelineJobs, job_ids: Collection[int]) -> list[int]:
    """Queue jobs, except those that fail because their users may not deploy to their environments; return these."""
    environments = {job_id: jobs.environments[job_id] for job_id in job_ids if job_id in jobs.environments}
    refused = refused_job_ids(db, pipeline.project_id, environments) if environments else []
    if refused:
        set_status(db, refused, "failed", failure_reason="protected_environment_failure")
    queued = [job_id for job_id in job_ids if job_id not in refused]
    enqueue_jobs(db, pipeline.project_id, [(job_id, jobs.resource_groups.get(job_id)) for job_id in queued])
    return refused


def _continue_after_failures(db: Connection, pipeline: Pipeline, failed: list[int], changed: Iterable[int]) -> None:
    """Process a locked pipeline after jobs have failed; the configuration may demand that all others are canceled."""
    others: list[CiJob] = []
    if failed and pipeline.on_job_failure == "all":
        current = jobs_of_pipeline(db, pipeline.id)
        if any(job.id in failed and not job.allow_failure for job in current):
            others = [job for job in current if job.status in CANCELABLE]
    if others:
        cancel_jobs(db, pipeline, others, changed)
    else:
        advance_pipeline(db, pipeline, changed)


def restart_jobs(
    db: Connection, pipeline: Pipeline, jobs: Sequence[tuple[int, str]], changed: Iterable[int] = ()
) -> None:
    """Queue jobs, given by id and name, restore the skipped jobs after them, and process the locked pipeline."""
    current = pipeline_jobs(db, pipeline.id)
    restored = _restore_skipped(db, current, {name for _, name in jobs})
    all_changed = [*changed, *restored, *(job_id for job_id, _ in jobs)]
    _continue_after_failures(db, pipeline, _queue(db, pipeline, current, [job_id for job_id, _ in jobs]), all_changed)


def _restore_skipped(db: Connection, jobs: PipelineJobs, started: set[str]) -> list[int]:
    """Create the skipped jobs again that follow jobs which start; return their ids."""
    restored = [each.job_id for each in restore_skipped(jobs.states, started)]
    if restored:
        set_status(db, restored, "created")
    return restored


def resume_job(db: Connection, job: CiJob) -> CiJob:
    """Let a job run again that has ended, because the pipeline for which it waits runs again."""
    pipeline = _locked(db, job.pipeline_id)
    restored = _restore_skipped(db, pipeline_jobs(db, pipeline.id), {job.name})
    set_status(db, [job.id], "running", failure_reason=None, finished_at=None)
    settle_pipeline(db, pipeline, [job.id, *restored])
    return _changed(db, job)


def effective_timeout(db: Connection, job: CiJob, runner: Runner) -> int:
    """Return the seconds that a job may run: as configured or as its project allows, limited by the runner."""
    seconds = job.timeout or settings_of(db, job.project_id).build_timeout
    return min(seconds, runner.maximum_timeout or seconds)


def start_job(db: Connection, job: CiJob, runner: Runner, *, cancel_gracefully: bool = False) -> str:
    """Record that a runner executes a job and return the new token of the job."""
    pipeline = _locked(db, job.pipeline_id)
    token = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
    set_status(
        db,
        [job.id],
        "running",
        runner_id=runner.id,
        sealed_token=db.vault.seal(token),
        token_digest=db.vault.digest(token),
        contacted_at=db.now,
        cancel_gracefully=cancel_gracefully,
        deployment_id=start_deployment(db, pipeline, job),
    )
    db.insert(
        ci_running,
        job_id=job.id,
        project_id=job.project_id,
        runner_id=runner.id,
        shared_runner=runner.runner_type == "instance_type",
        deadline=add_duration(db.now, seconds=effective_timeout(db, job, runner) + DEADLINE_GRACE_SECONDS),
    )
    settle_pipeline(db, pipeline, [job.id])
    return token


def requeue_job(db: Connection, job: CiJob) -> None:
    """Queue a running job again that its runner has not received; its token becomes invalid."""
    change_job(db, job, "pending", runner_id=None, sealed_token=None, token_digest=None, contacted_at=None)


def finish_job(
    db: Connection,
    job: CiJob,
    status: Status,
    failure_reason: FailureReason | None = None,
    exit_code: int | None = None,
) -> None:
    """End a job: decide whether its failure is allowed or retried, then let the jobs after it start.

    A job that is being canceled becomes canceled, also if its runner reports a failure. An ended job stays as it is.
    """
    pipeline = _locked(db, job.pipeline_id)
    if job.status in ENDED:
        return
    if job.status == "canceling":
        status, failure_reason = "canceled", None
    failed = status == "failed"
    allowed = job.allow_failure or (failed and exit_code in options_of(job).allow_failure_exit_codes)
    reason = (failure_reason or "unknown_failure") if failed else None
    set_status(db, [job.id], status, failure_reason=reason, exit_code=exit_code, allow_failure=allowed)
    finish_deployment(db, job, status)
    if status == "success" and options_of(job).site is not None:
        enqueue(db, DEPLOY_SITE, job.id, unique_key=f"deploy site {job.id}")
    release_resource(db, job)
    if failed and is_retried_automatically(db, job, failure_reason, exit_code):
        restart_jobs(db, pipeline, [(copy_job(db, job, job.user_id), job.name)], [job.id])
        return
    _continue_after_failures(db, pipeline, [job.id] if failed else [], [job.id])


def cancel_jobs(db: Connection, pipeline: Pipeline, jobs: Sequence[CiJob], changed: Iterable[int] = ()) -> None:
    """Cancel jobs of a locked pipeline and process it; a runner may first run the commands after a script."""
    graceful = [job.id for job in jobs if job.status == "running" and job.cancel_gracefully]
    ended = [job for job in jobs if job.id not in graceful]
    if graceful:
        set_status(db, graceful, "canceling")
    if ended:
        set_status(db, [job.id for job in ended], "canceled")
    for job in ended:
        finish_deployment(db, job, "canceled")
        release_resource(db, job)
    cancel_children_of_jobs(db, [job.id for job in jobs if job.bridge])
    advance_pipeline(db, pipeline, [*changed, *(job.id for job in jobs)])
