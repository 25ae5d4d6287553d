"""Start of the pipeline that a job demands: git is read outside of transactions."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.instance.throttles import count_within_limit
from ingot.ci.artifacts.downloads import read_entry
from ingot.ci.artifacts.queries import artifact_or_none
from ingot.ci.artifacts.store import ArtifactStore
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.plan import TriggerSpec
from ingot.ci.config.variables import expand_text
from ingot.ci.downstream.service import BridgeRefused, check_hierarchy, fail_bridge
from ingot.ci.job_records.queries import job_by_id, jobs_of_pipeline, options_of
from ingot.ci.job_records.tables import CiJob, FailureReason
from ingot.ci.pipelines.creation import NOT_PERMITTED, PipelineRequest, create_pipeline
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.project_config import GivenConfiguration
from ingot.ci.pipelines.ref_protection import may_run_on_ref, runner_of_pipeline
from ingot.ci.pipelines.start import NO_REFERENCE, resolve_ref
from ingot.ci.pipelines.variables import downstream_variables
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid, NotFound, Throttled
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.tables import CHILD_SOURCE, Pipeline
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project

MULTI_PROJECT_SOURCE = "pipeline"
_TOO_MANY = "Too many downstream pipelines triggered in the last minute. Try again later."


class _Start(NamedTuple):
    """A pending job that starts a pipeline, with everything that it depends on."""

    job: CiJob
    trigger: TriggerSpec
    upstream: Pipeline
    actor: Actor
    project: Project
    """Project of the new pipeline."""
    access: Access
    scope: Mapping[str, str]
    variables: tuple[GivenVariable, ...]


def start_downstream_pipeline(
    database: Database, store: RepositoryStore, artifacts: ArtifactStore, job_id: int
) -> None:
    """Create the pipeline of a pending job; the job fails with a reason if that is not possible."""
    start = None
    try:
        start = database.read(partial(_find_start, job_id=job_id))
        if start is None:  # Canceled, or started by an earlier attempt.
            return
        database.write(partial(_count_trigger, upstream=start.upstream, user_id=start.actor.user_id))
        request = _child_request(database, artifacts, start) if start.trigger.include else None
        create_pipeline(database, store, request or _project_request(database, store, start), save_on_errors=False)
    except BridgeRefused as refusal:
        database.write(partial(fail_bridge, job_id=job_id, reason=refusal.reason, message=str(refusal)))
    except Invalid as error:
        reason: FailureReason = "downstream_pipeline_creation_failed"
        database.write(partial(fail_bridge, job_id=job_id, reason=reason, message=_text(start, error)))


def _count_trigger(db: Connection, upstream: Pipeline, user_id: int) -> None:
    """Count a downstream pipeline; raise BridgeRefused if the user has started too many for the commit in a minute."""
    limit = cached_all_settings(db).downstream_pipeline_trigger_limit_per_project_user_sha
    if limit <= 0:
        return
    key = f"downstream pipelines of {upstream.project_id} {upstream.sha} by {user_id}"
    try:
        count_within_limit(db, key, limit, 60)
    except Throttled:
        raise BridgeRefused("downstream_pipeline_creation_failed", _TOO_MANY) from None


def _text(start: _Start | None, error: Invalid) -> str:
    """Return the text that readers of the job see; they may not see the files of another project."""
    if start is None or not start.trigger.include:
        return "The pipeline of the other project could not be created"
    return "; ".join(error.errors.get("base", [])) or str(error)


def _find_start(db: Connection, job_id: int) -> _Start | None:
    job = job_by_id(db, job_id)
    trigger = None if job is None else options_of(job).trigger
    if job is None or trigger is None or job.status != "pending":
        return None
    upstream = find_pipeline(db, job.project_id, job.pipeline_id)
    upstream_project = project_or_none(db, job.project_id)
    permitted = None
    if upstream_project is not None:
        permitted = runner_of_pipeline(db, job.user_id or upstream.user_id, upstream_project)
    if permitted is None or upstream_project is None:
        raise BridgeRefused("insufficient_bridge_permissions", NOT_PERMITTED)
    actor, access = permitted
    is_child = bool(trigger.include)
    check_hierarchy(db, upstream, is_child=is_child)
    scope, variables = downstream_variables(db, upstream_project, upstream, job, same_project=is_child)
    project = upstream_project
    if not is_child:
        access, project = _find_target(db, actor, trigger.project or "", scope)
        if project.id == upstream_project.id:
            raise BridgeRefused("invalid_bridge_trigger", "A job cannot start a pipeline of its own project")
    return _Start(job, trigger, upstream, actor, project, access, scope, tuple(variables))


def _find_target(db: Connection, actor: Actor, name: str, scope: Mapping[str, str]) -> tuple[Access, Project]:
    path = expand_text(name, scope)
    try:
        access, project = find_project(db, actor, path)
    except NotFound:
        project = None
    if project is None or project.full_path.lower() != path.lower():  # Only paths name projects, not ids.
        # The message has the text of the file, because values of variables may be masked.
        raise BridgeRefused("downstream_bridge_project_not_found", f"Project `{name}` not found or access denied")
    return access, project


def _child_request(database: Database, artifacts: ArtifactStore, start: _Start) -> PipelineRequest:
    upstream = start.upstream
    text = msgspec.json.encode({"include": start.trigger.include}).decode()
    return PipelineRequest(
        project=start.project,
        ref=upstream.ref,
        is_tag=upstream.tag,
        sha=upstream.sha,
        before_sha=upstream.before_sha or NO_OID,
        source=CHILD_SOURCE,
        user_id=start.actor.user_id,
        variables=start.variables,
        origin_key=f"job {start.job.id}",
        merge_request_id=upstream.merge_request_id,
        bridge_id=start.job.id,
        configuration=GivenConfiguration(text, None, partial(_artifact_text, database, artifacts, upstream.id)),
    )


def _project_request(database: Database, store: RepositoryStore, start: _Start) -> PipelineRequest:
    project = start.project
    branch = expand_text(start.trigger.branch or "", start.scope) or project.default_branch
    try:
        resolved = resolve_ref(store.open(project.repository_key), branch)
    except (MissingRepository, GitError) as error:
        raise Invalid(base=[NO_REFERENCE]) from error
    if resolved is None:
        raise Invalid(base=[NO_REFERENCE])
    name, is_tag, sha = resolved
    if not database.read(lambda db: may_run_on_ref(db, start.actor, start.access, project, name, is_tag=is_tag)):
        raise BridgeRefused("insufficient_bridge_permissions", NOT_PERMITTED)
    return PipelineRequest(
        project=project,
        ref=name,
        is_tag=is_tag,
        sha=sha,
        source=MULTI_PROJECT_SOURCE,
        user_id=start.actor.user_id,
        variables=start.variables,
        origin_key=f"job {start.job.id}",
        bridge_id=start.job.id,
        configuration=GivenConfiguration(inputs=start.trigger.inputs),
    )


def _artifact_text(database: Database, store: ArtifactStore, pipeline_id: int, job: str, path: str) -> str:
    """Return a file that a job of a pipeline has uploaded; raise ConfigError if there is none."""
    artifact = database.read(partial(_archive_of, pipeline_id=pipeline_id, name=job))
    if artifact is None:
        raise ConfigError(f"Job `{job}` not found in parent pipeline or does not have artifacts!")
    max_bytes = database.read(cached_all_settings).max_artifacts_content_include_size
    try:
        return read_entry(store, artifact, path, max_bytes).decode()
    except (NotFound, Invalid, UnicodeDecodeError):
        raise ConfigError(f"Artifact file `{path}` of job `{job}` does not exist or cannot be read!") from None


def _archive_of(db: Connection, pipeline_id: int, name: str) -> JobArtifact | None:
    job = next((each for each in jobs_of_pipeline(db, pipeline_id) if each.name == name), None)
    return None if job is None else artifact_or_none(db, job.id)
