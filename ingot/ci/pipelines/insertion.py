"""Rows of a new pipeline and its jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from typing import Any, NamedTuple, cast

import msgspec
from sqlalchemy import bindparam, select

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.plan import ConfigVariable, JobEnvironment, PipelinePlan, PlannedJob
from ingot.ci.config.variables import ExpandedVariables, expand_text
from ingot.ci.job_records.tables import JobOptions, JobVariable, ci_jobs, resource_groups
from ingot.ci.pipelines.predefined_variables import job_name_variables
from ingot.ci.pipelines.tables import VariableType, pipeline_contexts, pipeline_variables
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.pipelines.queries import find_pipeline, lock_project, next_iid
from ingot.pipelines.tables import Pipeline, commit_statuses, pipelines
from ingot.projects.environments.params import CreateEnvironment
from ingot.projects.environments.queries import environment_by_name_or_none
from ingot.projects.environments.service import create_environment
from ingot.projects.projects.tables import Project

MAX_NAME_LENGTH = 255
MAX_TAGS_BYTES = 2_000
"""Length of the tags of a job as JSON; PostgreSQL cannot index longer values."""
_IDS_BY_NAME = select(commit_statuses.c.name, commit_statuses.c.id).where(
    commit_statuses.c.pipeline_id == bindparam("pipeline")
)

_RESOURCE_GROUPS = select(resource_groups.c.key).where(
    resource_groups.c.project_id == bindparam("project"), in_list(resource_groups.c.key, "keys")
)


class GivenVariable(NamedTuple):
    """A variable that a caller, a trigger or a schedule sets for a pipeline."""

    key: str
    value: str
    variable_type: VariableType = "env_var"
    raw: bool = False


class JobRow(NamedTuple):
    """Columns of a new job."""

    status: dict[str, Any]
    job: dict[str, Any]
    environment: JobEnvironment | None
    """Environment with its variables expanded."""


def job_rows(
    plan: PipelinePlan,
    variables: Mapping[str, str],
    file_id: Callable[[str], str | None],
    *,
    protected: bool,
    mask: Callable[[str], str],
) -> list[JobRow]:
    """Return the columns of the jobs of a plan.

    ``variables`` are all those that do not come from the file; ``file_id`` returns the id of a file of the commit;
    ``mask`` hides the values of masked variables.
    """
    indexes = {stage: index for index, stage in enumerate(plan.stages)}
    encoded: dict[int, str] = {}

    def variables_json(values: Mapping[str, ConfigVariable]) -> str:
        # Jobs without own variables share one mapping.
        text = encoded.get(id(values))
        if text is None:
            entries = [JobVariable(name, each.value, each.raw) for name, each in values.items()]
            text = encoded[id(values)] = msgspec.json.encode(entries).decode()
        return text

    return [
        _job_row(
            _with_cache_keys(job, file_id),
            indexes[job.spec.stage],
            variables,
            variables_json(job.variables),
            protected,
            mask,
        )
        for job in plan.jobs
    ]


def _with_cache_keys(job: PlannedJob, file_id: Callable[[str], str | None]) -> PlannedJob:
    """Replace the keys of caches that depend on files by a digest of these files."""
    if not any(isinstance(cache.get("key"), dict) for cache in job.spec.cache):
        return job
    caches = tuple(
        {**cache, "key": _cache_key(cache["key"], file_id)} if isinstance(cache.get("key"), dict) else cache
        for cache in job.spec.cache
    )
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, cache=caches))


def _cache_key(key: Mapping[str, Any], file_id: Callable[[str], str | None]) -> str:
    files = key.get("files") or key.get("files_commits") or ()
    found = [oid for oid in map(file_id, files) if oid is not None]
    digest = sha1("-".join(found).encode(), usedforsecurity=False).hexdigest() if found else "default"
    return f"{key['prefix']}-{digest}" if key.get("prefix") else digest


def _job_row(
    job: PlannedJob,
    stage_index: int,
    variables: Mapping[str, str],
    variables_json: str,
    protected: bool,
    mask: Callable[[str], str],
) -> JobRow:
    spec = job.spec
    environment, resource_group, tags = spec.environment, spec.resource_group, spec.tags
    if environment is not None or "$" in f"{resource_group}{tags}":
        expanded = _job_scope(job, variables)
        environment = environment and _expanded_environment(environment, expanded, mask)
        resource_group = (expand_text(resource_group, expanded) if resource_group else None) or None
        tags = tuple(tag for tag in (expand_text(tag, expanded) for tag in tags) if tag)
    tags_json = _json(sorted(set(tags)))
    if len(tags_json.encode()) > MAX_TAGS_BYTES:
        raise ConfigError(f"{spec.name} job: the tags are too long (maximum is {MAX_TAGS_BYTES} bytes)")
    if resource_group is not None and len(resource_group) > MAX_NAME_LENGTH:
        raise ConfigError(f"{spec.name} job: the resource group is too long (maximum is {MAX_NAME_LENGTH} characters)")
    row = {
        "stage_index": stage_index,
        "run_when": job.when,
        "needs": None if job.needs is None else _json([need.job for need in job.needs]),
        "options": _json(_options(job, environment)),
        "variables": variables_json,
        "tags": tags_json,
        "protected": protected,
        "interruptible": job.interruptible,
        "resource_group": resource_group,
        "environment": None if environment is None else environment.name,
        "timeout": spec.timeout,
        "cancel_gracefully": False,
        "bridge": spec.trigger is not None or spec.upstream is not None,
    }
    status = {"name": spec.name, "stage": spec.stage, "allow_failure": job.allow_failure}
    return JobRow(status, row, environment)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _job_scope(job: PlannedJob, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables of a job, expanded; those of the file have no precedence over given ones."""
    own = {name: each.value for name, each in job.variables.items()}
    named = dict(job_name_variables(job.spec.name, job.spec.stage, job.spec.node, manual=job.when == "manual"))
    raw = {name for name, each in job.variables.items() if each.raw and name not in variables}
    return ExpandedVariables({**named, **own, **variables}, raw)


class _KnownVariables:
    """Variables of which unknown ones stay as references, in a form that the text after them cannot change."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def get(self, name: str, default: str) -> str:  # noqa: ARG002 - Signature of a mapping.
        """Return the value of a variable, or a reference to it."""
        return self._variables.get(name, f"${{{name}}}")


def _expanded_environment(
    environment: JobEnvironment, variables: Mapping[str, str], mask: Callable[[str], str]
) -> JobEnvironment:
    """Insert variables; masked values stay hidden, because reporters see environments but not variables."""
    # The rest is known when the job ends: the slug of the environment, and variables that the job reports.
    known = cast("Mapping[str, str]", _KnownVariables(variables))
    url = environment.url and mask(expand_text(environment.url, known))
    return msgspec.structs.replace(
        environment,
        name=mask(expand_text(environment.name, variables)),
        url=url,
        auto_stop_in=environment.auto_stop_in and expand_text(environment.auto_stop_in, variables),
    )


def _options(job: PlannedJob, environment: JobEnvironment | None) -> JobOptions:
    spec = job.spec
    dependencies = spec.dependencies
    if dependencies is None and job.needs is not None:
        dependencies = tuple(need.job for need in job.needs if need.artifacts)
    return JobOptions(
        script=spec.before_script + spec.script,
        after_script=spec.after_script,
        image=spec.image,
        services=spec.services,
        artifacts=spec.artifacts,
        cache=spec.cache,
        dependencies=dependencies,
        coverage=spec.coverage,
        retry_limit=spec.retry.limit,
        retry_when=spec.retry.when if spec.retry.limit else (),
        retry_exit_codes=spec.retry.exit_codes if spec.retry.limit else (),
        allow_failure_exit_codes=spec.allow_failure_exit_codes,
        environment=None if environment is None else _environment_options(environment),
        node=spec.node,
        start_in=job.start_in,
        trigger=spec.trigger,
        ancestor_needs=spec.ancestor_needs,
        project_needs=spec.project_needs,
        upstream=spec.upstream,
        secrets=spec.secrets,
        id_tokens=spec.id_tokens,
        release=spec.release,
        site=spec.site,
    )


def _environment_options(environment: JobEnvironment) -> dict[str, Any]:
    return {key: value for key, value in msgspec.structs.asdict(environment).items() if value is not None}


def insert_pipeline(
    db: Connection,
    project: Project,
    columns: Mapping[str, Any],
    context: Mapping[str, str],
    given: Sequence[GivenVariable],
    warnings: Sequence[str] = (),
) -> Pipeline:
    """Insert the row of a pipeline, its context with the warnings, and its variables."""
    lock_project(db, project.id)
    pipeline_id = db.insert(
        pipelines,
        iid=next_iid(db, project.id),
        project_id=project.id,
        created_at=db.now,
        updated_at=db.now,
        **columns,
    )
    db.insert(
        pipeline_contexts,
        pipeline_id=pipeline_id,
        variables=_json(context),
        warnings=_json(warnings) if warnings else None,
    )
    db.insert_many(
        pipeline_variables,
        [
            {
                "pipeline_id": pipeline_id,
                "key": each.key,
                "sealed_value": db.vault.seal(each.value),
                "variable_type": each.variable_type,
                "raw": each.raw,
            }
            for each in {each.key: each for each in given}.values()
        ],
    )
    return find_pipeline(db, project.id, pipeline_id)


def insert_jobs(db: Connection, project: Project, pipeline: Pipeline, rows: Sequence[JobRow]) -> None:
    """Insert the jobs of a new pipeline and the environments that they need."""
    common = {
        "pipeline_id": pipeline.id,
        "user_id": pipeline.user_id,
        "status": "created",
        "retried": False,
        "created_at": db.now,
        "updated_at": db.now,
    }
    db.insert_many(commit_statuses, [{**common, **row.status} for row in rows])
    ids: dict[str, int] = dict(db.rows(_IDS_BY_NAME, pipeline=pipeline.id))
    db.insert_many(ci_jobs, [{"id": ids[row.status["name"]], "project_id": project.id, **row.job} for row in rows])
    _ensure_resource_groups(db, project, {row.job["resource_group"] for row in rows} - {None})
    _ensure_environments(db, project, (row.environment for row in rows if row.environment is not None))


def _ensure_resource_groups(db: Connection, project: Project, keys: set[str]) -> None:
    """Create missing resource groups; the project is locked."""
    if keys:
        keys -= {key for (key,) in db.rows(_RESOURCE_GROUPS, project=project.id, keys=list(keys))}
    common = {"project_id": project.id, "process_mode": "unordered", "created_at": db.now, "updated_at": db.now}
    db.insert_many(resource_groups, [{**common, "key": key} for key in sorted(keys)])


def _ensure_environments(db: Connection, project: Project, found: Iterable[JobEnvironment]) -> None:
    """Create missing environments; a job whose environment has no valid name runs without one."""
    for environment in _starting(found):
        if environment_by_name_or_none(db, project, environment.name) is None:
            try:
                create_environment(db, project, CreateEnvironment(environment.name, tier=environment.tier))
            except Invalid:
                continue


def _starting(found: Iterable[JobEnvironment]) -> Iterator[JobEnvironment]:
    return iter({each.name: each for each in found if each.action != "stop"}.values())
