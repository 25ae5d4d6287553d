"""Permission to run jobs that deploy to protected environments."""

from collections.abc import Iterable, Mapping

from ingot.accounts.users.actors import active_actor
from ingot.ci.job_records.policy import has_jobs
from ingot.ci.job_records.queries import jobs_by_ids
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.ref_protection import may_run_jobs_of
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.pipelines.tables import Pipeline
from ingot.projects.environments.protection.deploy_permission import allow_deployment
from ingot.projects.environments.protection.queries import applying_rules
from ingot.projects.environments.protection.tables import ProtectedEnvironment
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project


def may_run_job(db: Connection, actor: Actor, access: Access, project: Project, pipeline: Pipeline, job: CiJob) -> bool:
    """Return whether a user may start or retry a job.

    A protected environment decides alone: users who may only deploy need no permission on the branch or tag.
    """
    rules = () if job.environment is None else applying_rules(db, project.id, [job.environment]).get(job.environment)
    if not rules:
        return may_run_jobs_of(db, actor, access, project, pipeline)
    return has_jobs(project) and not project.archived and allow_deployment(db, actor, access, project, rules)


def refused_job_ids(db: Connection, project_id: int, environments: Mapping[int, str]) -> list[int]:
    """Return those of these jobs, given with their environments, whose users may not deploy there."""
    rules = applying_rules(db, project_id, set(environments.values()))
    protected = {job_id: rules[name] for job_id, name in environments.items() if name in rules}
    return [job.id for job in jobs_by_ids(db, list(protected)) if not _may_deploy(db, job, protected[job.id])]


def refused_deployments(db: Connection, actor: Actor, project_id: int, jobs: Iterable[CiJob]) -> set[str]:
    """Return the environments of jobs to which a user may not deploy."""
    rules = applying_rules(db, project_id, {job.environment for job in jobs if job.environment is not None})
    if not rules:
        return set()
    access, project = find_project(db, actor, project_id)
    return {name for name, of_name in rules.items() if not allow_deployment(db, actor, access, project, of_name)}


def is_refused(db: Connection, job: CiJob) -> bool:
    """Return whether the user of a job may not deploy to its environment."""
    return job.environment is not None and bool(refused_job_ids(db, job.project_id, {job.id: job.environment}))


def _may_deploy(db: Connection, job: CiJob, rules: list[ProtectedEnvironment]) -> bool:
    actor = None if job.user_id is None else active_actor(db, job.user_id)
    if actor is None:
        return False
    try:
        access, project = find_project(db, actor, job.project_id)
    except NotFound:
        return False
    return allow_deployment(db, actor, access, project, rules)
