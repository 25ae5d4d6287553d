"""Queries of the jobs of a pipeline for its processing, and of settings for CI."""

from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, exists, func, select, union_all

from ingot.ci.job_records.tables import ProcessMode, ci_jobs, resource_groups
from ingot.ci.pipelines.state_machine import JobState
from ingot.ci.pipelines.tables import CiSettings, PipelineVariable, ci_settings, pipeline_variables
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.pipelines.queries import pipelines_by_ids as pipelines_by_ids
from ingot.pipelines.tables import Pipeline, commit_statuses, pipelines

RESOURCE_STATUSES = ("pending", "running", "canceling")
"""Statuses of a job that occupies its resource group."""
_SETTINGS = select(ci_settings).where(ci_settings.c.project_id == bindparam("project"))
_VARIABLES = (
    select(pipeline_variables)
    .where(pipeline_variables.c.pipeline_id == bindparam("pipeline"))
    .order_by(pipeline_variables.c.id)
)
_JOBS = ci_jobs.join(commit_statuses, commit_statuses.c.id == ci_jobs.c.id)
_STATES = (
    select(
        ci_jobs.c.id,
        commit_statuses.c.name,
        ci_jobs.c.stage_index,
        commit_statuses.c.status,
        ci_jobs.c.run_when,
        commit_statuses.c.allow_failure,
        ci_jobs.c.needs,
        ci_jobs.c.resource_group,
        ci_jobs.c.environment,
    )
    .select_from(_JOBS)
    .where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried)
    .order_by(ci_jobs.c.id)
)
_RETRIES = select(func.count()).where(
    commit_statuses.c.pipeline_id == bindparam("pipeline"),
    commit_statuses.c.name == bindparam("name"),
    commit_statuses.c.retried,
)
_IN_RESOURCE_GROUP = (
    select(ci_jobs.c.id)
    .select_from(_JOBS)
    .where(ci_jobs.c.project_id == bindparam("project"), ci_jobs.c.resource_group == bindparam("name"))
)
_USER_OF_RESOURCE = _IN_RESOURCE_GROUP.where(one_of(commit_statuses.c.status, *RESOURCE_STATUSES)).limit(1)
_WAITING_FOR_RESOURCE = _IN_RESOURCE_GROUP.where(commit_statuses.c.status == "waiting_for_resource").limit(1)
_NEXT_OF_RESOURCE = {
    "unordered": _WAITING_FOR_RESOURCE.order_by(ci_jobs.c.id),
    "oldest_first": _WAITING_FOR_RESOURCE.order_by(commit_statuses.c.pipeline_id, ci_jobs.c.id),
    "newest_first": _WAITING_FOR_RESOURCE.order_by(commit_statuses.c.pipeline_id.desc(), ci_jobs.c.id),
}
_PROCESS_MODE = select(resource_groups.c.process_mode).where(
    resource_groups.c.project_id == bindparam("project"), resource_groups.c.key == bindparam("name")
)
_BRIDGE_IDS = (
    select(ci_jobs.c.id)
    .select_from(_JOBS)
    .where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ci_jobs.c.bridge)
)
_EXTERNAL_IDS = select(commit_statuses.c.id).where(
    commit_statuses.c.pipeline_id == bindparam("pipeline"), ~exists().where(ci_jobs.c.id == commit_statuses.c.id)
)
_BRIDGE_AND_EXTERNAL_IDS = union_all(_BRIDGE_IDS, _EXTERNAL_IDS)
_BY_ORIGIN = select(pipelines).where(pipelines.c.origin_key == bindparam("origin_key"))


class PipelineJobs(NamedTuple):
    """The newest attempts of the jobs of a pipeline."""

    states: list[JobState]
    resource_groups: dict[int, str]
    """Resource groups by job id."""
    environments: dict[int, str]
    """Names of environments by job id."""


def settings_of(db: Connection, project_id: int) -> CiSettings:
    """Return the settings of a project for CI; the representation of a project contains some, so they are cached."""

    def read() -> CiSettings:
        return db.first(CiSettings, _SETTINGS, project=project_id) or CiSettings(project_id)

    settings = db.cached(("CI settings", project_id), read, lambda _: 1_000, lambda _: {"ci_settings": project_id})
    assert settings is not None  # noqa: S101 - The default is cached too.
    return settings


def variables_of_pipeline(db: Connection, pipeline_id: int) -> list[PipelineVariable]:
    """Return the variables that were given when a pipeline was created."""
    return db.all(PipelineVariable, _VARIABLES, pipeline=pipeline_id)


def pipeline_jobs(db: Connection, pipeline_id: int) -> PipelineJobs:
    """Return the states of the jobs of a pipeline; the pipeline must be locked."""
    states: list[JobState] = []
    groups: dict[int, str] = {}
    environments: dict[int, str] = {}
    rows = db.rows(_STATES, pipeline=pipeline_id)
    for job_id, name, stage, status, when, optional, needs, group, environment in rows:
        names = None if needs is None else msgspec.json.decode(needs, type=tuple[str, ...])
        states.append(JobState(job_id, name, stage, status, when, optional, names))
        if group is not None:
            groups[states[-1].id] = group
        if environment is not None:
            environments[states[-1].id] = environment
    return PipelineJobs(states, groups, environments)


def ids_besides_jobs(db: Connection, pipeline_id: int, *, external: bool) -> list[int]:
    """Return the ids of statuses of a pipeline that are no jobs with a log: bridges and, if wanted, external ones.

    Earlier attempts are included.
    """
    statement = _BRIDGE_AND_EXTERNAL_IDS if external else _BRIDGE_IDS
    return [status_id for (status_id,) in db.rows(statement, pipeline=pipeline_id)]


def count_retries(db: Connection, pipeline_id: int, name: str) -> int:
    """Return how many attempts of a job were followed by another one."""
    count: int = db.value(_RETRIES, pipeline=pipeline_id, name=name)
    return count


def is_resource_occupied(db: Connection, project_id: int, resource_group: str) -> bool:
    """Return whether a job of a resource group is queued or running."""
    return db.value(_USER_OF_RESOURCE, project=project_id, name=resource_group) is not None


def next_job_of_resource(db: Connection, project_id: int, resource_group: str) -> int | None:
    """Return the next job that waits for a resource group, in the order of the group, if any."""
    mode: ProcessMode = db.value(_PROCESS_MODE, project=project_id, name=resource_group) or "unordered"
    job_id: int | None = db.value(_NEXT_OF_RESOURCE[mode], project=project_id, name=resource_group)
    return job_id


def pipeline_of_origin(db: Connection, origin_key: str) -> Pipeline | None:
    """Return the pipeline that an event created, if any."""
    return db.first(Pipeline, _BY_ORIGIN, origin_key=origin_key)
