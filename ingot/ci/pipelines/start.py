"""Creation of pipelines for the API and the pages."""

from collections.abc import Collection, Iterable
from contextlib import closing
from functools import partial
from typing import Any

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.inputs import InputSpec, input_specs
from ingot.ci.config.plan import ConfigVariable
from ingot.ci.config.yaml_loader import load_documents
from ingot.ci.pipelines.config_files import CommitFiles, FileReader
from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline, rule_context_of
from ingot.ci.pipelines.given_variables import require_variables_allowed
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.merge_request_context import head_ref
from ingot.ci.pipelines.merged_results import with_merged_result
from ingot.ci.pipelines.params import PipelineVariableParams
from ingot.ci.pipelines.predefined_variables import DEFAULT_CONFIG_PATH
from ingot.ci.pipelines.project_config import (
    GivenConfiguration,
    PipelineRefused,
    config_text,
    read_project_config,
)
from ingot.ci.pipelines.ref_protection import runner_of_pipeline
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, tag_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.variables.service import key_errors

MAX_VARIABLES = 200
NO_REFERENCE = "Reference not found"


def resolve_ref(repository: Repository, ref: str) -> tuple[str, bool, str] | None:
    """Return the short name of a branch or tag, whether it is a tag, and its commit; None if there is none."""
    name = ref.removeprefix("refs/heads/")
    tip = None if ref.startswith("refs/tags/") else branch_tip(repository, name)
    if tip is not None:
        return name, False, tip
    name = ref.removeprefix("refs/tags/")
    tip = None if ref.startswith("refs/heads/") else tag_tip(repository, name)
    return None if tip is None else (name, True, tip)


def check_variables(keys: Collection[str]) -> None:
    """Raise Invalid if the variables of a request are too many or a key is not valid."""
    if len(keys) > MAX_VARIABLES:
        raise Invalid(base=[f"A pipeline can have {MAX_VARIABLES} variables at most"])
    for key in keys:
        errors = key_errors(key)
        if errors:
            raise Invalid(**errors)


def variable_problem(keys: Collection[str]) -> str | None:
    """Return what is wrong with the variables of a push, which cannot be refused any more; None if nothing is."""
    try:
        check_variables(keys)
    except Invalid as error:
        return f"Variables of the push: {error}"
    return None


def given_variables(sent: Iterable[PipelineVariableParams]) -> tuple[GivenVariable, ...]:
    """Return the variables of a request; raise Invalid if they are not valid or two have the same key."""
    given = tuple(GivenVariable(each.key, each.value, each.variable_type) for each in sent)
    check_variables([each.key for each in given])
    if len({each.key for each in given}) < len(given):
        raise Invalid(base=["Duplicate variable name"])
    return given


def run_pipeline(
    database: Database,
    store: RepositoryStore,
    project: Project,
    user_id: int,
    ref: str,
    variables: tuple[GivenVariable, ...],
    source: str,
    inputs: dict[str, Any] | None = None,
) -> Pipeline:
    """Create a pipeline for the tip of a branch or tag; raise Invalid if there is nothing to run."""
    resolved = resolve_ref(project_repository(store, project), ref)
    if resolved is None:
        raise Invalid(base=[NO_REFERENCE])
    name, is_tag, sha = resolved
    request = PipelineRequest(
        project=project,
        ref=name,
        is_tag=is_tag,
        sha=sha,
        source=source,
        user_id=user_id,
        variables=variables,
        configuration=GivenConfiguration(inputs=inputs),
    )
    pipeline = create_pipeline(database, store, request, save_on_errors=False)
    if pipeline is None:
        raise Invalid(base=["No pipeline created"])
    return pipeline


def described_variables(
    database: Database, store: RepositoryStore, project: Project, actor: Actor, ref: str
) -> dict[str, ConfigVariable]:
    """Return the variables that the configuration of a branch or tag describes, for a form that asks for their values.

    There are none if the configuration cannot be read or the user may not set variables.
    """
    variables = config_variables(database, store, project, actor, ref)
    return {key: variable for key, variable in variables.items() if variable.description}


def config_variables(
    database: Database, store: RepositoryStore, project: Project, actor: Actor, ref: str
) -> dict[str, ConfigVariable]:
    """Return the variables of the configuration of a branch or tag.

    There are none if the configuration cannot be read or the user may not set variables.
    """
    try:
        database.read(partial(require_variables_allowed, user_id=actor.user_id, project=project))
        repository = project_repository(store, project)
        resolved = resolve_ref(repository, ref)
        if resolved is None:
            return {}
        name, is_tag, sha = resolved
        request = PipelineRequest(
            project=project, ref=name, is_tag=is_tag, sha=sha, source="web", user_id=actor.user_id
        )
        context = rule_context_of(database, store, request)
        config = read_project_config(database, store, project, actor, repository, context, GivenConfiguration())
    except (ConfigError, Denied, Invalid, NotFound, PipelineRefused):
        return {}
    return dict(config.variables)


def declared_inputs(
    database: Database, store: RepositoryStore, project: Project, actor: Actor, ref: str
) -> tuple[InputSpec, ...]:
    """Return the inputs that the configuration of a branch or tag declares; none if it cannot be read."""
    try:
        repository = project_repository(store, project)
        resolved = resolve_ref(repository, ref)
        if resolved is None:
            return ()
        reader = FileReader(repository, resolved[2])
        with closing(CommitFiles(database, store, actor, reader)) as source:
            text, _ = config_text(project.ci_config_path or DEFAULT_CONFIG_PATH, reader, source)
        return input_specs(load_documents(text))
    except (ConfigError, NotFound, PipelineRefused):
        return ()


def merge_request_pipeline(
    project: Project, merge_request: MergeRequest, user_id: int, origin_key: str | None = None
) -> PipelineRequest:
    """Return the request for a pipeline of the head of a merge request, in its source or target project."""
    return PipelineRequest(
        project=project,
        ref=head_ref(merge_request),
        sha=merge_request.head_oid,
        source="merge_request_event",
        user_id=user_id,
        origin_key=origin_key,
        merge_request_id=merge_request.id,
    )


def run_merge_request_pipeline(
    database: Database, store: RepositoryStore, merge_request: MergeRequest, user_id: int
) -> tuple[Project, Pipeline]:
    """Create a pipeline for an open merge request; raise Denied or Invalid if that is not possible."""
    project = database.read(partial(_project_of_pipeline, merge_request=merge_request, user_id=user_id))
    request = with_merged_result(database, store, merge_request_pipeline(project, merge_request, user_id))
    pipeline = create_pipeline(database, store, request, save_on_errors=False)
    if pipeline is None:
        raise Invalid(base=["No pipeline created"])
    return project, pipeline


def _project_of_pipeline(db: Connection, merge_request: MergeRequest, user_id: int) -> Project:
    """Return the project in which a user runs a pipeline of a merge request.

    That of a fork runs in the target project if it allows that and the user may run pipelines there, else in the fork.
    """
    source_id = merge_request.source_project_id
    source = None if source_id is None else project_or_none(db, source_id)
    if source is None or merge_request.state != "opened":
        raise Invalid(base=["The merge request is not open, or its source project was deleted"])
    target = (
        source if merge_request.target_project_id == source_id else project_or_none(db, merge_request.target_project_id)
    )
    in_target = target is not None and target.ci_options.ci_allow_fork_pipelines_to_run_in_parent_project
    if target is not None and in_target and runner_of_pipeline(db, user_id, target) is not None:
        return target
    if runner_of_pipeline(db, user_id, source) is None:
        raise Denied
    return source
