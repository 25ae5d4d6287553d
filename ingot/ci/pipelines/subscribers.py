"""Subscribers that store settings for CI, end jobs of blocked users and run the jobs which stop environments."""

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from ingot.accounts.users.actors import active_actor
from ingot.accounts.users.events import UserBlocked
from ingot.ci.job_records.queries import JOBS, options_of
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.ci.pipelines.project_settings import edit_ci_settings
from ingot.ci.pipelines.service import play_job
from ingot.ci.pipelines.stuck_jobs import enqueue_stuck_job_search
from ingot.ci.runners.queue_version import announce_queue_change
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.core.events.bus import Subscriptions
from ingot.pipelines.tables import commit_statuses
from ingot.projects.environments.events import EnvironmentStopped
from ingot.projects.environments.tables import Environment, deployments, environments
from ingot.projects.projects.events import ProjectCiSettingsEdited, ProjectEdited
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()
_DEPLOYING_JOB = (
    JOBS.join(deployments, deployments.c.id == ci_jobs.c.deployment_id)
    .where(deployments.c.environment_id == bindparam("environment"), deployments.c.status == "success")
    .order_by(deployments.c.id.desc())
    .limit(1)
)
_NAMED = JOBS.where(
    commit_statuses.c.pipeline_id == bindparam("pipeline"),
    commit_statuses.c.name == bindparam("name"),
    ~commit_statuses.c.retried,
)
_DEPLOYED_FROM = select(environments).where(
    environments.c.project_id == bindparam("project"),
    environments.c.state == "available",
    environments.c.id.in_(
        select(deployments.c.environment_id)
        .where(
            deployments.c.project_id == bindparam("project"),
            in_list(deployments.c.ref, "branches"),
            ~deployments.c.tag,
        )
        .scalar_subquery()
    ),
)

_LAST_REF = (
    select(deployments.c.ref)
    .where(deployments.c.environment_id == bindparam("environment"))
    .order_by(deployments.c.id.desc())
    .limit(1)
)


@subscriptions.on(ProjectCiSettingsEdited)
def store_ci_settings(db: Connection, event: ProjectCiSettingsEdited) -> None:
    """Store the settings of a project for CI."""
    edit_ci_settings(db, event.project_id, event.settings)
    announce_queue_change(db)


@subscriptions.on(ProjectEdited)
def announce_enabled_runners(db: Connection, event: ProjectEdited) -> None:  # noqa: ARG001 - Any setting may matter.
    """Let waiting runners look for jobs again: the project may have enabled pipelines or shared runners."""
    announce_queue_change(db)


@subscriptions.on(UserBlocked)
def end_jobs_of_blocked_user(db: Connection, event: UserBlocked) -> None:  # noqa: ARG001 - The search finds the jobs.
    """End the running jobs of a blocked user, which have the user's rights; jobs in the queue end when they start."""
    enqueue_stuck_job_search(db)


@subscriptions.on(EnvironmentStopped)
def run_stop_job(db: Connection, event: EnvironmentStopped) -> None:
    """Start the job that the last deployment names as ``on_stop``, if the user may do so."""
    actor = active_actor(db, event.actor_id)
    job = _stop_job(db, event.environment_id)
    if actor is not None and job is not None:
        _play(db, actor, job)


@subscriptions.on(RefsChanged)
def stop_environments_of_deleted_branches(db: Connection, event: RefsChanged) -> None:
    """Start the jobs that stop environments whose last deployment came from a deleted branch."""
    deleted = [update.branch for update in event.updates if update.branch is not None and update.deletes]
    actor = active_actor(db, event.actor_id) if deleted and event.actor_id is not None else None
    if actor is None:
        return
    for environment in _last_deployed_from(db, event.project_id, deleted):
        job = _stop_job(db, environment.id)
        if job is not None:
            _play(db, actor, job)


def _last_deployed_from(db: Connection, project_id: int, branches: list[str]) -> Iterable[Environment]:
    for environment in db.all(Environment, _DEPLOYED_FROM, project=project_id, branches=branches):
        last = db.rows(_LAST_REF, environment=environment.id)
        if last and last[0][0] in branches:
            yield environment


def deploying_job(db: Connection, environment_id: int) -> CiJob | None:
    """Return the job of the last successful deployment to an environment, if any."""
    return db.first(CiJob, _DEPLOYING_JOB, environment=environment_id)


def _stop_job(db: Connection, environment_id: int) -> CiJob | None:
    deploying = deploying_job(db, environment_id)
    name = None if deploying is None else (options_of(deploying).environment or {}).get("on_stop")
    if deploying is None or name is None:
        return None
    return db.first(CiJob, _NAMED, pipeline=deploying.pipeline_id, name=name)


def _play(db: Connection, actor: Actor, job: CiJob) -> None:
    try:
        play_job(db, actor, job)
    except (Denied, Invalid, NotFound):  # Not permitted, or running already: the environment is stopped regardless.
        return
