"""Deployments of jobs to environments."""

from sqlalchemy import Text, and_, bindparam, func, or_, select

from ingot.ci.config.durations import parse_duration
from ingot.ci.config.variables import expand_text
from ingot.ci.job_records.dependencies import inherited_variables
from ingot.ci.job_records.queries import options_of, reported_variables
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.events.bus import emit
from ingot.pipelines.tables import Pipeline, Status
from ingot.projects.environments.events import DeploymentSucceeded
from ingot.projects.environments.service import is_link_target
from ingot.projects.environments.tables import Environment, deployments, environments
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import projects

_ENVIRONMENT = select(environments).where(
    environments.c.project_id == bindparam("project"), environments.c.name == bindparam("name")
)
_BY_URL = select(environments.c.id).where(
    environments.c.project_id == bindparam("project"), environments.c.external_url == bindparam("url")
)
_LOCK_PROJECT = select(projects.c.id).where(projects.c.id == bindparam("project")).with_for_update()
_LAST_IID = select(func.max(deployments.c.iid)).where(deployments.c.project_id == bindparam("project"))
_COMPARED = 20
"""Last successful deployments that are compared with a job; jobs need not start in the order of their ids."""
_LAST_SUCCESSES = (
    select(deployments.c.id, deployments.c.sha, deployments.c.created_at)
    .where(deployments.c.environment_id == bindparam("environment"), deployments.c.status == "success")
    .order_by(deployments.c.id.desc())
    .limit(_COMPARED)
    .subquery()
)
_NEWER_COMMIT = (
    select(_LAST_SUCCESSES.c.sha)
    .outerjoin(ci_jobs, ci_jobs.c.deployment_id == _LAST_SUCCESSES.c.id)
    .where(
        or_(
            ci_jobs.c.id > bindparam("job"),
            and_(ci_jobs.c.id.is_(None), _LAST_SUCCESSES.c.created_at > bindparam("created_at", type_=Text)),
        )
    )
    .order_by(_LAST_SUCCESSES.c.id.desc())
    .limit(1)
)
_COMPLETE: frozenset[str] = frozenset({"success", "failed", "canceled"})
_RESULTS = {"success": "success", "canceled": "canceled"}


def environment_of(db: Connection, job: CiJob) -> Environment | None:
    """Return the environment of a job, if it has one that exists."""
    if job.environment is None:
        return None
    return db.first(Environment, _ENVIRONMENT, project=job.project_id, name=job.environment)


def _action(job: CiJob) -> str:
    action: str = (options_of(job).environment or {}).get("action", "start")
    return action


def is_outdated_deployment(db: Connection, job: CiJob, pipeline: Pipeline) -> bool:
    """Return whether a job may not deploy, because a newer job has deployed another commit to its environment.

    A finished job may be repeated for a rollback, if the project allows it.
    """
    environment = environment_of(db, job)
    if environment is None or _action(job) != "start":
        return False
    options = existing_project(db, job.project_id).ci_options
    if not options.ci_forward_deployment_enabled:
        return False
    if options.ci_forward_deployment_rollback_allowed and job.status in _COMPLETE:
        return False
    newer = db.value(_NEWER_COMMIT, environment=environment.id, job=job.id, created_at=job.created_at)
    return newer is not None and newer != pipeline.sha


def start_deployment(db: Connection, pipeline: Pipeline, job: CiJob) -> int | None:
    """Record that a job deploys to its environment; return the id of the deployment, or None if it does not."""
    environment = environment_of(db, job)
    if environment is None or _action(job) != "start":
        return None
    db.value(_LOCK_PROJECT, project=job.project_id)
    return db.insert(
        deployments,
        iid=(db.value(_LAST_IID, project=job.project_id) or 0) + 1,
        project_id=job.project_id,
        environment_id=environment.id,
        user_id=job.user_id,
        sha=pipeline.sha,
        ref=pipeline.ref,
        tag=pipeline.tag,
        status="running",
        created_at=db.now,
        updated_at=db.now,
    )


def finish_deployment(db: Connection, job: CiJob, status: Status) -> None:
    """Record the end of a deployment, and make the environment available or stopped after a success."""
    if job.environment is None:
        return
    if job.deployment_id is not None:
        result = _RESULTS.get(status, "failed")
        db.update(deployments, job.deployment_id, status=result, updated_at=db.now, finished_at=db.now)
        if result == "success":
            emit(db, DeploymentSucceeded(job.project_id, job.deployment_id))
    environment = environment_of(db, job)
    if environment is None or status != "success":
        return
    if _action(job) == "stop":
        db.update(environments, environment.id, state="stopped", auto_stop_at=None, updated_at=db.now)
    elif _action(job) == "start":
        url = _usable_url(db, job, environment)
        stop_at = _stop_time(db, job) or environment.auto_stop_at
        db.update(
            environments,
            environment.id,
            state="available",
            external_url=url,
            auto_stop_at=stop_at,
            auto_delete_at=None,
            updated_at=db.now,
        )
    elif _stop_time(db, job) is not None:
        db.update(environments, environment.id, auto_stop_at=_stop_time(db, job), updated_at=db.now)


def _stop_time(db: Connection, job: CiJob) -> Timestamp | None:
    """Return the time at which the environment of a job should be stopped, if the configuration names one."""
    duration = (options_of(job).environment or {}).get("auto_stop_in")
    seconds = None if duration is None else parse_duration(str(duration))
    return add_duration(db.now, seconds=seconds) if seconds else None


def _usable_url(db: Connection, job: CiJob, environment: Environment) -> str | None:
    """Return the URL of the configuration if it is valid and no other environment has it, else the present one."""
    variables = {
        **dict(inherited_variables(db, job)),
        **dict(reported_variables(db, job.id)),
        "CI_JOB_ID": str(job.id),
        "CI_ENVIRONMENT_NAME": environment.name,
        "CI_ENVIRONMENT_SLUG": environment.slug,
    }
    url = expand_text((options_of(job).environment or {}).get("url") or "", variables)
    if not url or not is_link_target(url):
        return environment.external_url
    owner = db.value(_BY_URL, project=job.project_id, url=url)
    return url if owner in (None, environment.id) else environment.external_url
