"""Queries of jobs."""

import msgspec
from sqlalchemy import bindparam, or_, select

from ingot.accounts.users.tables import users
from ingot.ci.job_records.tables import CiJob, JobOptions, JobVariable, ci_job_variables, ci_jobs
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.errors import Denied, NotFound
from ingot.pipelines.tables import commit_statuses, pipelines

STATUS_COLUMNS = (
    "pipeline_id",
    "user_id",
    "name",
    "stage",
    "status",
    "coverage",
    "allow_failure",
    "retried",
    "created_at",
    "updated_at",
    "started_at",
    "finished_at",
)
"""Columns of a job that belong to its commit status."""
JOBS = select(ci_jobs, *(commit_statuses.c[name] for name in STATUS_COLUMNS)).join(
    commit_statuses, commit_statuses.c.id == ci_jobs.c.id
)
"""All jobs, as ``CiJob``."""
_BY_ID = JOBS.where(ci_jobs.c.id == bindparam("job"))
_BY_IDS = JOBS.where(in_list(ci_jobs.c.id, "jobs")).order_by(ci_jobs.c.id)
_IN_PROJECT = _BY_ID.where(ci_jobs.c.project_id == bindparam("project"))
_ALL_OF_PIPELINE = JOBS.where(commit_statuses.c.pipeline_id == bindparam("pipeline")).order_by(
    ci_jobs.c.stage_index, ci_jobs.c.id
)
_OF_PIPELINE = _ALL_OF_PIPELINE.where(~commit_statuses.c.retried)
_BY_TOKEN = JOBS.where(
    ci_jobs.c.token_digest == bindparam("digest"), one_of(commit_statuses.c.status, "running", "canceling")
)
_JOB_VARIABLES = (
    select(ci_job_variables.c.key, ci_job_variables.c.sealed_value)
    .where(ci_job_variables.c.job_id == bindparam("job"), ci_job_variables.c.source == bindparam("source"))
    .order_by(ci_job_variables.c.id)
)
INACTIVE_USER = or_(users.c.state != "active", users.c.placeholder)
"""Condition on users in whose name no job may run: they are blocked or deleted."""
_INACTIVE_USER = select(users.c.id).where(users.c.id == bindparam("user"), INACTIVE_USER)
_LOCK_PIPELINE = (
    select(pipelines.c.id)
    .where(
        pipelines.c.id
        == select(commit_statuses.c.pipeline_id).where(commit_statuses.c.id == bindparam("job")).scalar_subquery()
    )
    .with_for_update()
)


def find_job(db: Connection, project_id: int, job_id: int) -> CiJob:
    """Return a project's job; raise NotFound otherwise."""
    job = db.first(CiJob, _IN_PROJECT, project=project_id, job=job_id)
    if job is None:
        raise NotFound("Job")
    return job


def job_by_id(db: Connection, job_id: int) -> CiJob | None:
    """Return a job, if it exists."""
    return db.first(CiJob, _BY_ID, job=job_id)


def jobs_by_ids(db: Connection, job_ids: list[int]) -> list[CiJob]:
    """Return the jobs with these ids, in the order of their ids."""
    return db.all(CiJob, _BY_IDS, jobs=job_ids) if job_ids else []


def jobs_of_pipeline(db: Connection, pipeline_id: int, *, retried: bool = False) -> list[CiJob]:
    """Return the jobs of a pipeline by stage and id; with ``retried`` also attempts that were followed by others."""
    return db.all(CiJob, _ALL_OF_PIPELINE if retried else _OF_PIPELINE, pipeline=pipeline_id)


def lock_job(db: Connection, job_id: int) -> CiJob | None:
    """Lock the pipeline of a job, which all changes of its jobs need, and return the job, if it exists."""
    db.value(_LOCK_PIPELINE, job=job_id)
    return db.first(CiJob, _BY_ID, job=job_id)


def job_by_token(db: Connection, token: str) -> CiJob | None:
    """Return the job that a runner executes with this token, if any."""
    return db.first(CiJob, _BY_TOKEN, digest=db.vault.digest(token))


def has_active_user(db: Connection, job: CiJob) -> bool:
    """Return whether the user in whose name a job runs is neither blocked nor deleted."""
    return job.user_id is None or db.value(_INACTIVE_USER, user=job.user_id) is None


def require_active_user(db: Connection, job: CiJob) -> None:
    """Raise Denied for the runner of a job whose user was blocked or deleted; the job is ended soon."""
    if not has_active_user(db, job):
        raise Denied("The user of the job is blocked")


def options_of(job: CiJob) -> JobOptions:
    """Return the configuration of a job."""
    return msgspec.json.decode(job.options, type=JobOptions)


def variables_of(job: CiJob) -> list[JobVariable]:
    """Return the variables that the configuration sets for a job."""
    return msgspec.json.decode(job.variables, type=list[JobVariable])


def needs_of(job: CiJob) -> tuple[str, ...] | None:
    """Return the names of the jobs that a job needs; None if it waits for the stages before it."""
    return None if job.needs is None else msgspec.json.decode(job.needs, type=tuple[str, ...])


def tags_of(job: CiJob) -> list[str]:
    """Return the tags that a runner must have to execute a job."""
    return msgspec.json.decode(job.tags, type=list[str])


def manual_variables(db: Connection, job_id: int) -> list[tuple[str, str]]:
    """Return the variables that a user gave when starting a manual job."""
    return _variables(db, job_id, "manual")


def reported_variables(db: Connection, job_id: int) -> list[tuple[str, str]]:
    """Return the variables that a job has reported in a dotenv file."""
    return _variables(db, job_id, "dotenv")


def _variables(db: Connection, job_id: int, source: str) -> list[tuple[str, str]]:
    return [(key, db.vault.unseal(sealed)) for key, sealed in db.rows(_JOB_VARIABLES, job=job_id, source=source)]
