"""Start of pipelines by the token of a trigger or of a running job."""

from functools import partial
from typing import NamedTuple

import msgspec

from ingot.ci.job_records.queries import job_by_token
from ingot.ci.job_tokens.queries import allows_job_token
from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.ci.pipelines.given_variables import require_variables_allowed
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.project_config import GivenConfiguration
from ingot.ci.pipelines.start import NO_REFERENCE, check_variables, resolve_ref
from ingot.ci.triggers.params import TriggerPipeline
from ingot.ci.triggers.queries import trigger_by_token
from ingot.ci.triggers.service import record_use
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid, NotFound, Unauthenticated
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import project_id_by_path_or_none, project_or_none
from ingot.projects.projects.tables import Project

PAYLOAD_VARIABLE = "TRIGGER_PAYLOAD"


class _TriggerOrigin(NamedTuple):
    """Identity behind a token."""

    project: Project
    user_id: int | None
    source: str
    trigger_id: int | None


def trigger_pipeline(
    database: Database, store: RepositoryStore, project_name: str, params: TriggerPipeline
) -> tuple[Project, Pipeline]:
    """Create a pipeline in the name of the token's owner; raise Invalid if there is nothing to run."""
    origin = database.read(partial(_find_origin, project_name=project_name, token=params.token))
    given = params.variables or {}
    check_variables(given)
    if given:
        database.read(partial(require_variables_allowed, user_id=origin.user_id, project=origin.project))
    resolved = resolve_ref(project_repository(store, origin.project), params.ref)
    if resolved is None:
        raise Invalid(base=[NO_REFERENCE])
    name, is_tag, sha = resolved
    payload = msgspec.json.encode({"ref": params.ref, "variables": given}).decode()
    request = PipelineRequest(
        project=origin.project,
        ref=name,
        is_tag=is_tag,
        sha=sha,
        source=origin.source,
        user_id=origin.user_id,
        variables=(
            *(GivenVariable(key, value) for key, value in given.items()),
            GivenVariable(PAYLOAD_VARIABLE, payload, "file", raw=True),
        ),
        configuration=GivenConfiguration(inputs=params.inputs),
        origin_variables=() if origin.trigger_id is None else (("CI_TRIGGER_SHORT_TOKEN", params.token[:4]),),
    )
    pipeline = create_pipeline(database, store, request, save_on_errors=True)
    if pipeline is None:
        raise Invalid("No pipeline created")
    if origin.trigger_id is not None:
        database.write(partial(record_use, trigger_id=origin.trigger_id))
    return origin.project, pipeline


def _find_origin(db: Connection, project_name: str, token: str) -> _TriggerOrigin:
    """Return the project and the owner of a token; raise NotFound or Unauthenticated if they do not fit."""
    number = number_or_none(project_name)
    project_id = project_id_by_path_or_none(db, project_name) if number is None else number
    project = None if project_id is None else project_or_none(db, project_id)
    if project is None or project.namespace_id is None:
        raise NotFound
    job = job_by_token(db, token)
    if job is not None:
        if job.project_id != project.id and not allows_job_token(db, job.project_id, project.id):
            raise NotFound
        return _TriggerOrigin(project, job.user_id, "pipeline", None)
    trigger = trigger_by_token(db, token)
    if trigger is None:
        raise NotFound
    if trigger.project_id != project.id:
        # A private project must look like a missing one.
        raise Unauthenticated if project.visibility == "public" else NotFound
    return _TriggerOrigin(project, trigger.owner_id, "trigger", trigger.id)
