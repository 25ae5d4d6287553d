"""Creation of pipelines: the configuration of a commit is read and planned, then all rows are written at once."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.users.queries import user_or_none
from ingot.ci.catalog.service import record_usages
from ingot.ci.config.compiler import plan_pipeline
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.plan import PipelinePlan
from ingot.ci.config.variables import ExpandedVariables, expand_text
from ingot.ci.freeze_periods.status import freeze_variables
from ingot.ci.job_records.queries import lock_job
from ingot.ci.pipelines import predefined_variables as predefined
from ingot.ci.pipelines.bridges import link_downstream_pipeline
from ingot.ci.pipelines.config_files import FileReader, project_file_paths
from ingot.ci.pipelines.insertion import (
    MAX_NAME_LENGTH,
    GivenVariable,
    JobRow,
    insert_jobs,
    insert_pipeline,
    job_rows,
)
from ingot.ci.pipelines.merge_request_context import TestedResult, merge_request_variables, open_merge_request_names
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.pipelines.processing import advance_pipeline
from ingot.ci.pipelines.project_config import GivenConfiguration, PipelineRefused, read_project_config
from ingot.ci.pipelines.queries import pipeline_of_origin
from ingot.ci.pipelines.redundancy import cancel_redundant_pipelines
from ingot.ci.pipelines.ref_protection import (
    is_protected_merge_request,
    is_protected_ref,
    may_run_on_ref,
    runner_of_pipeline,
)
from ingot.ci.pipelines.rule_context import CommitContext, mask_values
from ingot.ci.pipelines.variables import secret_variables, user_variables
from ingot.collaboration.merge_requests.queries import latest_version, merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import cancel_job
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, Commit, commit_or_none
from ingot.git.history.tags import read_tags, tag_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.pipeline_refs import ensure_pipeline_ref
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.service import emit_status
from ingot.pipelines.tables import CHILD_SOURCE, Pipeline, Status, pipelines
from ingot.projects.projects.tables import Project

_RECENT = select(func.count()).where(
    pipelines.c.project_id == bindparam("project"),
    pipelines.c.sha == bindparam("sha"),
    pipelines.c.user_id == bindparam("user"),
    pipelines.c.created_at > bindparam("since"),
)
_SKIP = re.compile(r"\[(?:ci[ _-]skip|skip[ _-]ci)\]", re.IGNORECASE)
_SOURCES_THAT_SKIP = ("push", "merge_request_event")
_MAX_WARNINGS = 50
NO_JOBS = "No stages / jobs for this pipeline."
FILTERED = "Pipeline filtered out by workflow rules."
NOT_PERMITTED = "Insufficient permissions to create a new pipeline"


class PipelineRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a pipeline that should be created."""

    project: Project
    ref: str
    """Short name of the branch or tag; for a merge request its full ref."""
    is_tag: bool = False
    sha: str
    before_sha: str = NO_OID
    source: str
    """Such as ``push``, ``api``, ``trigger``, ``schedule``, ``web`` or ``merge_request_event``."""
    user_id: int | None
    variables: tuple[GivenVariable, ...] = ()
    origin_key: str | None = None
    """Names the event that leads to this pipeline, so that it is created once."""
    merge_request_id: int | None = None
    source_sha: str | None = None
    """Head of the merge request if ``sha`` is the result of a merge."""
    target_sha: str | None = None
    """Commit that it was merged into."""
    ignores_skip: bool = False
    """Run also if the message of the commit demands to skip pipelines."""
    warnings: tuple[str, ...] = ()
    skip: bool = False
    """Create a skipped pipeline, as ``[ci skip]`` in the message of the commit does."""
    safety_job_id: int | None = None
    """Job that would repeat the request after a crash; it is withdrawn with the creation."""
    problem: str | None = None
    """Error because of which the pipeline fails at once, such as an invalid variable."""
    bridge_id: int | None = None
    """Job of another pipeline that starts this one."""
    configuration: GivenConfiguration = GivenConfiguration()
    origin_variables: tuple[tuple[str, str], ...] = ()
    """Predefined variables of the schedule or trigger that starts the pipeline."""


class _Inputs(NamedTuple):
    """Rows that a new pipeline depends on."""

    actor: Actor
    merge_request: MergeRequest | None
    base: str
    """Commit with which ``changes`` compares; zeros if everything counts as changed."""
    protected: bool
    open_merge_requests: str
    merge_request_context: dict[str, str]
    freeze: tuple[tuple[str, str], ...]
    other_variables: dict[str, str]
    """Variables of the user, instance, groups and project."""
    masked_values: tuple[str, ...]
    """Values that must not be shown in error messages and names."""


class _PipelineFacts(NamedTuple):
    """Rows and git objects that a new pipeline depends on."""

    inputs: _Inputs
    repository: Repository
    commit: Commit
    context: dict[str, str]
    """Predefined variables."""
    rules: CommitContext


class PipelineDraft(NamedTuple):
    """A planned pipeline, before anything is written."""

    status: Status
    errors: str | None
    context: dict[str, str]
    protected: bool
    plan: PipelinePlan | None
    rows: list[JobRow]
    name: str | None
    warnings: tuple[str, ...] = ()
    catalog_components: tuple[int, ...] = ()


def create_pipeline(
    database: Database, store: RepositoryStore, request: PipelineRequest, *, save_on_errors: bool
) -> Pipeline | None:
    """Create a pipeline and start its first jobs; return None if the configuration demands none.

    With ``save_on_errors``, an invalid configuration leads to a failed pipeline that shows the errors. Otherwise
    ``Invalid`` is raised, also if there is no configuration or no job.
    """
    try:
        draft = prepare_pipeline(database, store, request)
    except PipelineRefused as refusal:
        if not save_on_errors:
            raise Invalid(base=[str(refusal)]) from refusal
        return None
    if draft.errors is not None and not save_on_errors:
        raise Invalid(base=[draft.errors])
    pipeline = database.write(partial(_write, store=store, request=request, draft=draft))
    if draft.rows:
        cancel_redundant_pipelines(database, pipeline)
    return pipeline


def prepare_pipeline(database: Database, store: RepositoryStore, request: PipelineRequest) -> PipelineDraft:
    """Read and plan the configuration of a commit; raise ``PipelineRefused`` if no pipeline should be created."""
    facts = _gather_facts(database, store, request)
    inputs, rules = facts.inputs, facts.rules
    stored = _stored_context(facts.context, inputs, request.project, database.ports[CiEnvironment])
    if request.problem is not None:
        return PipelineDraft("failed", request.problem, stored, inputs.protected, None, [], None)
    try:
        config = read_project_config(
            database, store, request.project, inputs.actor, facts.repository, rules, request.configuration
        )
        if request.skip or _skips(request, facts):
            return _skipped(request, inputs, stored)
        plan = plan_pipeline(config, rules)
        rows = _rows(plan, facts, request.sha)
    except ConfigError as error:
        errors = mask_values("; ".join(error.messages), rules.masked_values)
        return PipelineDraft("failed", errors, stored, inputs.protected, None, [], None)
    warnings = tuple(mask_values(each, rules.masked_values) for each in config.warnings[:_MAX_WARNINGS])
    if plan is None:
        raise PipelineRefused(FILTERED)
    if not plan.has_main_jobs:
        raise PipelineRefused(NO_JOBS)
    name, components = _name(plan, rules), config.catalog_components
    return PipelineDraft("created", None, stored, inputs.protected, plan, rows, name, warnings, components)


def _skips(request: PipelineRequest, facts: _PipelineFacts) -> bool:
    """Return whether the message of the commit, or that of the head of the merge request, skips pipelines."""
    if request.ignores_skip or request.source not in _SOURCES_THAT_SKIP:
        return False
    head = None if request.source_sha is None else commit_or_none(facts.repository, request.source_sha)
    return bool(_SKIP.search((head or facts.commit).message))


def _rows(plan: PipelinePlan | None, facts: _PipelineFacts, sha: str) -> list[JobRow]:
    if plan is None:
        return []
    return job_rows(
        plan,
        facts.rules.variables,
        FileReader(facts.repository, sha).blob_id_or_none,
        protected=facts.inputs.protected,
        mask=partial(mask_values, values=facts.rules.masked_values),
    )


def rule_context_of(database: Database, store: RepositoryStore, request: PipelineRequest) -> CommitContext:
    """Return the context in which the rules of a pipeline are evaluated; raise ``PipelineRefused``."""
    return _gather_facts(database, store, request).rules


def _gather_facts(database: Database, store: RepositoryStore, request: PipelineRequest) -> _PipelineFacts:
    inputs = database.read(partial(_read_inputs, request=request))
    try:
        repository = store.open(request.project.repository_key)
        commit = commit_or_none(repository, request.sha)
    except (MissingRepository, GitError) as error:
        raise PipelineRefused("Commit not found") from error
    if commit is None:
        raise PipelineRefused("Commit not found")
    context = dict(_context_variables(database.ports[CiEnvironment], request, inputs, commit))
    tag = tag_or_none(repository, request.ref) if request.is_tag else None
    message = None if tag is None else read_tags(repository, [tag])[0].message
    if message:
        context["CI_COMMIT_TAG_MESSAGE"] = message[: predefined.MAX_MESSAGE_LENGTH]
    rules = CommitContext(
        repository,
        request.sha,
        inputs.base,
        ref=_ref_name(request, inputs),
        is_tag=request.is_tag,
        source=request.source,
        project_path=request.project.full_path,
        variables={**context, **inputs.other_variables, **{each.key: each.value for each in request.variables}},
        masked_values=inputs.masked_values,
        files_elsewhere=partial(project_file_paths, database, store, inputs.actor),
    )
    return _PipelineFacts(inputs, repository, commit, context, rules)


def _skipped(request: PipelineRequest, inputs: _Inputs, context: dict[str, str]) -> PipelineDraft:
    if request.merge_request_id is not None:  # The pipeline of the branch shows that it was skipped.
        raise PipelineRefused("Skipped")
    return PipelineDraft("skipped", None, context, inputs.protected, None, [], None)


def _name(plan: PipelinePlan, rules: CommitContext) -> str | None:
    if plan.name is None:
        return None
    own = {name: each.value for name, each in plan.variables.items()}
    name = expand_text(plan.name, ExpandedVariables({**own, **rules.variables}))
    name = mask_values(name, rules.masked_values)  # Readers of pipelines may not read variables.
    return name.strip()[:MAX_NAME_LENGTH] or None


def _read_inputs(db: Connection, request: PipelineRequest) -> _Inputs:
    project = request.project
    permitted = runner_of_pipeline(db, request.user_id, project)
    if not project.jobs_enabled:
        raise PipelineRefused("Pipeline is disabled")
    if permitted is None:
        raise PipelineRefused(NOT_PERMITTED)
    actor, access = permitted
    _require_within_limit(db, request)
    merge_request = None
    base = request.before_sha if request.source in ("push", CHILD_SOURCE) and not request.is_tag else NO_OID
    if request.merge_request_id is not None:
        merge_request = merge_request_by_id(db, request.merge_request_id)
        version = latest_version(db, merge_request.id)
        base = request.target_sha or (version.base_oid if version is not None else None) or NO_OID
        protected = is_protected_merge_request(db, actor, access, project.id, merge_request)
    else:
        protected = is_protected_ref(db, project.id, request.ref, is_tag=request.is_tag)
        # A push was permitted by the rules already, also that of a deploy key.
        if request.source != "push" and not may_run_on_ref(
            db, actor, access, project, request.ref, is_tag=request.is_tag
        ):
            raise PipelineRefused(
                f"You do not have sufficient permission to run a pipeline on '{request.ref}'. "
                "Please select a different branch or contact your administrator for assistance."
            )
    branch = merge_request.source_branch if merge_request else None if request.is_tag else request.ref
    base_url = db.ports[CiEnvironment].base_url
    secrets = secret_variables(db, project, protected=protected, environment=None)
    return _Inputs(
        actor,
        merge_request,
        base,
        protected,
        open_merge_request_names(db, project.id, branch) if branch is not None else "",
        dict(merge_request_variables(db, merge_request, base_url, _tested_result(request))) if merge_request else {},
        tuple(freeze_variables(db, project.id)),
        {**dict(user_variables(user_or_none(db, actor.user_id))), **{each.key: each.value for each in secrets}},
        tuple(each.value for each in secrets if each.masked and each.value),
    )


def _tested_result(request: PipelineRequest) -> TestedResult | None:
    if request.source_sha is None or request.target_sha is None:
        return None
    return TestedResult(request.ref, request.source_sha, request.target_sha)


def _require_within_limit(db: Connection, request: PipelineRequest) -> None:
    """Raise PipelineRefused if the user has created too many pipelines for the commit within a minute."""
    limit = all_settings(db).pipeline_limit_per_project_user_sha
    if limit <= 0 or request.bridge_id is not None:
        return
    since = add_duration(db.now, seconds=-60)
    values = {"project": request.project.id, "sha": request.sha, "user": request.user_id, "since": since}
    if db.value(_RECENT, **values) >= limit:
        raise PipelineRefused("Too many pipelines created in the last minute. Try again later.")


def _ref_name(request: PipelineRequest, inputs: _Inputs) -> str:
    return request.ref if inputs.merge_request is None else inputs.merge_request.source_branch


def _context_variables(
    environment: CiEnvironment, request: PipelineRequest, inputs: _Inputs, commit: Commit
) -> Iterator[tuple[str, str]]:
    yield from predefined.instance_variables(environment)
    yield from predefined.project_variables(request.project, environment.base_url)
    yield from inputs.freeze
    yield from predefined.commit_variables(
        commit,
        _ref_name(request, inputs),
        is_tag=request.is_tag,
        in_merge_request=inputs.merge_request is not None,
        before_sha=request.before_sha,
        protected=inputs.protected,
    )
    yield "CI_PIPELINE_SOURCE", request.source
    if request.source == "trigger":
        yield "CI_PIPELINE_TRIGGERED", "true"
        yield "CI_BUILD_TRIGGERED", "true"
    yield from request.origin_variables
    if inputs.open_merge_requests:
        yield "CI_OPEN_MERGE_REQUESTS", inputs.open_merge_requests
    yield from inputs.merge_request_context.items()


def _stored_context(
    context: Mapping[str, str], inputs: _Inputs, project: Project, environment: CiEnvironment
) -> dict[str, str]:
    """Return the variables that cannot be computed again later."""
    computed = {
        *(key for key, _ in predefined.instance_variables(environment)),
        *(key for key, _ in predefined.project_variables(project, environment.base_url)),
        *(key for key, _ in inputs.freeze),
    }
    return {key: value for key, value in context.items() if key not in computed}


def _write(db: Connection, store: RepositoryStore, request: PipelineRequest, draft: PipelineDraft) -> Pipeline:
    if request.safety_job_id is not None:
        cancel_job(db, request.safety_job_id)
    if request.origin_key is not None:
        existing = pipeline_of_origin(db, request.origin_key)
        if existing is not None:
            return existing
    # Upstream pipelines are locked before projects, as everywhere.
    bridge = None if request.bridge_id is None else lock_job(db, request.bridge_id)
    if request.bridge_id is not None and (bridge is None or bridge.status != "pending"):
        raise Invalid(base=["The job that starts the pipeline was canceled"])
    columns = _columns(request, draft)
    warnings = (*request.warnings, *draft.warnings)
    pipeline = insert_pipeline(db, request.project, columns, draft.context, request.variables, warnings)
    if draft.rows:
        key, sha = request.project.repository_key, request.sha
        # A runner that finds no ref after a crash creates it (``ensure_pipeline_ref``).
        db.after_transaction(lambda _: ensure_pipeline_ref(store.open(key), pipeline.id, sha))
        insert_jobs(db, request.project, pipeline, draft.rows)
        record_usages(db, request.project.id, draft.catalog_components)
        advance_pipeline(db, pipeline)
    else:
        emit_status(db, pipeline, pipeline.status)
    if bridge is not None:
        link_downstream_pipeline(db, bridge, pipeline.id)
    return find_pipeline(db, request.project.id, pipeline.id)


def _columns(request: PipelineRequest, draft: PipelineDraft) -> dict[str, Any]:
    return {
        "user_id": request.user_id,
        "sha": request.sha,
        "before_sha": request.before_sha,
        "ref": request.ref,
        "tag": request.is_tag,
        "source": request.source,
        "status": draft.status,
        "yaml_errors": draft.errors,
        "protected": draft.protected,
        "name": draft.name,
        "merge_request_id": request.merge_request_id,
        "origin_key": request.origin_key,
        "source_sha": request.source_sha,
        "target_sha": request.target_sha,
        "on_new_commit": draft.plan.on_new_commit if draft.plan else None,
        "on_job_failure": draft.plan.on_job_failure if draft.plan else None,
    }
