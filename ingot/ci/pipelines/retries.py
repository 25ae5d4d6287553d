"""New attempts of jobs."""

from sqlalchemy import BigInteger, bindparam, insert, select

from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob, ci_job_variables, ci_jobs
from ingot.ci.pipelines.queries import count_retries
from ingot.core.db.connection import Connection
from ingot.pipelines.tables import commit_statuses

_COPIED = (
    "project_id",
    "stage_index",
    "run_when",
    "needs",
    "options",
    "variables",
    "tags",
    "protected",
    "interruptible",
    "resource_group",
    "environment",
    "timeout",
    "bridge",
)
_NEVER_RETRIED = (
    "missing_dependency_failure",
    "forward_deployment_failure",
    "failed_outdated_deployment_job",
    "protected_environment_failure",
)
"""Reasons that another attempt does not change."""

_COPY_VARIABLES = insert(ci_job_variables).from_select(
    ["job_id", "source", "key", "sealed_value"],
    select(
        bindparam("copy", type_=BigInteger),
        ci_job_variables.c.source,
        ci_job_variables.c.key,
        ci_job_variables.c.sealed_value,
    ).where(ci_job_variables.c.job_id == bindparam("job"), ci_job_variables.c.source == "manual"),
)


def copy_job(db: Connection, job: CiJob, user_id: int | None) -> int:
    """Add another attempt of a job, which is created but not yet queued, and return its id."""
    db.update(commit_statuses, job.id, retried=True, updated_at=db.now)
    options = options_of(job)
    allowed_by_code = bool(options.allow_failure_exit_codes) and job.exit_code in options.allow_failure_exit_codes
    job_id = db.insert(
        commit_statuses,
        pipeline_id=job.pipeline_id,
        user_id=user_id,
        name=job.name,
        stage=job.stage,
        status="created",
        allow_failure=job.allow_failure and not allowed_by_code,
        retried=False,
        created_at=db.now,
        updated_at=db.now,
    )
    copied = {name: getattr(job, name) for name in _COPIED}
    db.insert(ci_jobs, id=job_id, cancel_gracefully=False, **copied)
    db.run(_COPY_VARIABLES, job=job.id, copy=job_id)
    return job_id


def is_retried_automatically(
    db: Connection, job: CiJob, failure_reason: str | None, exit_code: int | None = None
) -> bool:
    """Return whether the configuration demands another attempt after a failure, by its reason or exit code."""
    options = options_of(job)
    reason = failure_reason or "unknown_failure"
    if not options.retry_limit or reason in _NEVER_RETRIED:
        return False
    reasons = options.retry_when or (() if options.retry_exit_codes else ("always",))
    if "always" not in reasons and reason not in reasons and exit_code not in options.retry_exit_codes:
        return False
    return count_retries(db, job.pipeline_id, job.name) < options.retry_limit
