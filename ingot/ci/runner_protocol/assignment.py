"""Steps of the protocol: handing out jobs, appending to traces, and ending jobs."""

from functools import partial
from typing import NamedTuple, get_args

from ingot.ci.job_records.queries import lock_job, options_of
from ingot.ci.job_records.tables import CiJob, FailureReason, ci_jobs
from ingot.ci.pipelines.processing import change_job, finish_job, requeue_job
from ingot.ci.pipelines.queries import settings_of
from ingot.ci.runner_protocol.params import RequestJob, UpdateJob
from ingot.ci.runner_protocol.payload import JobPayload, job_payload
from ingot.ci.runner_protocol.queries import EXECUTED
from ingot.ci.runner_protocol.secrets import SecretsProviderMissing
from ingot.ci.runner_protocol.selection import QueueView, TakenJob, jobs_for_runner, take_job
from ingot.ci.runners.queries import runner_by_token
from ingot.ci.runners.queue_version import queue_version
from ingot.ci.runners.tables import Runner
from ingot.ci.traces.coverage import coverage_in_trace
from ingot.ci.traces.store import TraceStore, TraceTooLarge, trace_topic
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, NotFound, Unavailable
from ingot.core.log import log_failure
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.pipeline_refs import ensure_pipeline_ref
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.queries import existing_project

_MAX_UNUSABLE_JOBS = 5


class JobOffer(NamedTuple):
    """The answer to a runner that asks for a job."""

    runner: Runner
    version: int
    """Version of the queue that was searched."""
    payload: JobPayload | None


class _Search(NamedTuple):
    runner: Runner
    version: int
    queue: QueueView


def request_job(database: Database, store: RepositoryStore, params: RequestJob, base: str) -> JobOffer:
    """Give the runner with this token its next job, if there is one; raise Denied for an unknown token.

    The queue is searched without a lock first, because most polls find nothing.
    """
    runner, version, queue = database.read(partial(_search, params=params))
    if not queue.candidates:
        return JobOffer(runner, version, None)
    for attempt in range(_MAX_UNUSABLE_JOBS):
        taken = database.write(partial(_take, params=params, queue=None if attempt else queue))
        if taken is None:
            return JobOffer(runner, version, None)
        try:
            if _lacks_secrets(taken.job, params):
                database.write(partial(end_job, job_id=taken.job.id, status="failed", reason="runner_unsupported"))
                continue
            return JobOffer(runner, version, _payload(database, store, taken, runner, base))
        except Unavailable:
            raise
        except SecretsProviderMissing:
            reason: FailureReason = "secrets_provider_not_found"
            database.write(partial(end_job, job_id=taken.job.id, status="failed", reason=reason))
        except Exception as error:  # noqa: BLE001 - A job that cannot be handed out must not block the queue.
            log_failure("job not handed out", error, job=taken.job.id)
            database.write(partial(end_job, job_id=taken.job.id, status="failed", reason="data_integrity_failure"))
    raise Conflict("409 Conflict")


def _search(db: Connection, params: RequestJob) -> _Search:
    runner = _authenticated(db, params.token)
    # Before the search: a job that is queued meanwhile changes the version again.
    version = queue_version(db)
    return _Search(runner, version, jobs_for_runner(db, runner) if runner.active else QueueView([], []))


def _authenticated(db: Connection, token: str) -> Runner:
    runner = runner_by_token(db, token)
    if runner is None:
        raise Denied
    return runner


def _take(db: Connection, params: RequestJob, queue: QueueView | None) -> TakenJob | None:
    runner = _authenticated(db, params.token)
    features = params.info.features if params.info is not None else None
    graceful = features is not None and features.cancel_gracefully
    return take_job(db, runner, queue, cancel_gracefully=graceful) if runner.active else None


def _lacks_secrets(job: CiJob, params: RequestJob) -> bool:
    """Return whether a job has secrets of Vault and the runner has said that it cannot fetch them."""
    features = params.info.features if params.info is not None else None
    secrets = options_of(job).secrets
    return features is not None and not features.vault_secrets and any("vault" in each for each in secrets.values())


def _payload(database: Database, store: RepositoryStore, taken: TakenJob, runner: Runner, base: str) -> JobPayload:
    job = taken.job
    project, pipeline = database.read(
        lambda db: (existing_project(db, job.project_id), pipelines_by_ids(db, [job.pipeline_id])[job.pipeline_id])
    )
    repository = store.open(project.repository_key)
    ensure_pipeline_ref(repository, pipeline.id, pipeline.sha)
    has_ref = repository.tip(_full_ref(pipeline)) is not None
    return database.read(lambda db: job_payload(db, taken, runner, project, pipeline, base, has_ref=has_ref))


def _full_ref(pipeline: Pipeline) -> str:
    if pipeline.ref.startswith("refs/"):
        return pipeline.ref
    return f"refs/{'tags' if pipeline.tag else 'heads'}/{pipeline.ref}"


def note_first_report(database: Database, job: CiJob) -> None:
    """Record at once that a job has reached its runner; otherwise it would be handed out again after a crash.

    The times of later reports are written in the background.
    """
    if job.status in EXECUTED and job.contacted_at == job.started_at:
        database.write(lambda db: db.update(ci_jobs, job.id, contacted_at=db.now))


def append_to_trace(database: Database, traces: TraceStore, job: CiJob, token: str, offset: int, part: bytes) -> int:
    """Append to the trace of a job; return its size. A trace beyond the limit ends the job and raises Denied."""
    try:
        size = traces.append(job.id, offset, part, token.encode())
    except TraceTooLarge:
        raise _excessive_trace(database, job) from None
    database.announce(trace_topic(job.id))
    return size


def replace_trace(database: Database, traces: TraceStore, job: CiJob, token: str, trace: str) -> None:
    """Replace the trace of a job, as old runners do. A trace beyond the limit ends the job and raises Denied."""
    try:
        traces.replace(job.id, trace.encode(), token.encode())
    except TraceTooLarge:
        raise _excessive_trace(database, job) from None


def _excessive_trace(database: Database, job: CiJob) -> Denied:
    if job.status in EXECUTED:
        database.write(partial(end_job, job_id=job.id, status="failed", reason="trace_size_exceeded"))
    return Denied("The trace is too large")


def finish_execution(database: Database, traces: TraceStore, job: CiJob, params: UpdateJob) -> CiJob:
    """End a job as its runner reports, with the coverage from its trace; a job that has ended stays as it is."""
    if job.status not in EXECUTED:
        return job
    traces.sync(job.id)
    pattern = options_of(job).coverage or database.read(lambda db: settings_of(db, job.project_id).build_coverage_regex)
    coverage = coverage_in_trace(traces, job.id, pattern) if pattern else None
    if params.state == "success":
        work = partial(end_job, job_id=job.id, status="success", coverage=coverage)
    else:
        work = partial(
            end_job,
            job_id=job.id,
            status="failed",
            reason=_known_reason(params.failure_reason),
            exit_code=params.exit_code,
            coverage=coverage,
        )
    return database.write(work)


def end_job(
    db: Connection,
    job_id: int,
    status: str,
    reason: FailureReason | None = None,
    exit_code: int | None = None,
    coverage: float | None = None,
) -> CiJob:
    """End an executed job, unless it has ended meanwhile."""
    job = lock_job(db, job_id)
    if job is None:
        raise NotFound(message="404 Not found")
    if job.status in EXECUTED:
        if coverage is not None:
            job = change_job(db, job, job.status, coverage=coverage)
        finish_job(db, job, "success" if status == "success" else "failed", reason, exit_code)
        return lock_job(db, job_id) or job
    return job


def return_job(db: Connection, job_id: int) -> None:
    """Queue a job again whose runner disconnected before it got the job."""
    job = lock_job(db, job_id)
    if job is not None and job.status == "running":
        requeue_job(db, job)


def _known_reason(reason: str | None) -> FailureReason:
    return next((known for known in get_args(FailureReason) if known == reason), "unknown_failure")
