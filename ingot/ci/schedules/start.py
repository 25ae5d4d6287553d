"""Creation of the pipelines of schedules."""

from functools import partial
from typing import Any, NamedTuple

from ingot.ci.pipelines.creation import PipelineRequest, create_pipeline
from ingot.ci.pipelines.given_variables import NOT_ALLOWED, variables_allowed
from ingot.ci.pipelines.insertion import GivenVariable
from ingot.ci.pipelines.project_config import GivenConfiguration
from ingot.ci.schedules.inputs import schedule_inputs
from ingot.ci.schedules.queries import origin_prefix, variables_of_schedule
from ingot.ci.schedules.tables import PipelineSchedule, pipeline_schedules
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, tag_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.tables import Project

_BRANCHES = "refs/heads/"
_TAGS = "refs/tags/"


class ScheduledRef(NamedTuple):
    """The branch or tag of a schedule and its commit."""

    name: str
    is_tag: bool
    sha: str


def resolve_ref(repository: Repository, ref: str) -> ScheduledRef | None:
    """Return the branch, or else the tag, that a schedule names by its short or full name."""
    if not ref.startswith(_TAGS):
        name = ref.removeprefix(_BRANCHES)
        sha = branch_tip(repository, name)
        if sha is not None:
            return ScheduledRef(name, False, sha)
    if not ref.startswith(_BRANCHES):
        name = ref.removeprefix(_TAGS)
        sha = tag_tip(repository, name)
        if sha is not None:
            return ScheduledRef(name, True, sha)
    return None


def scheduled_ref_or_none(store: RepositoryStore, project: Project, ref: str) -> ScheduledRef | None:
    """Return the branch or tag of a schedule, if it exists."""
    try:
        return resolve_ref(store.open(project.repository_key), ref)
    except (MissingRepository, GitError) as error:
        log_failure("schedule without repository", error, project=project.id)
        return None


def planned_ref(store: RepositoryStore, project: Project, ref: str) -> tuple[str, bool]:
    """Return the short name in a schedule and whether it is a tag; a ref that does not exist yet counts as a branch."""
    existing = scheduled_ref_or_none(store, project, ref)
    if existing is not None:
        return existing.name, existing.is_tag
    return ref.removeprefix(_BRANCHES).removeprefix(_TAGS), ref.startswith(_TAGS)


def create_scheduled_pipeline(
    database: Database,
    store: RepositoryStore,
    project: Project,
    schedule: PipelineSchedule,
    ref: ScheduledRef,
    *,
    user_id: int,
    occurrence: str,
) -> Pipeline | None:
    """Create the pipeline of one occurrence, once however often this is called; return None if there is none."""
    variables, inputs = database.read(partial(_given, schedule=schedule))
    allowed = not variables or database.read(partial(variables_allowed, user_id=user_id, project=project))
    request = PipelineRequest(
        project=project,
        ref=ref.name,
        is_tag=ref.is_tag,
        sha=ref.sha,
        source="schedule",
        user_id=user_id,
        variables=variables if allowed else (),
        problem=None if allowed else NOT_ALLOWED,
        configuration=GivenConfiguration(inputs=inputs),
        origin_key=origin_prefix(schedule.id) + occurrence,
        origin_variables=(("CI_PIPELINE_SCHEDULE_DESCRIPTION", schedule.description),),
    )
    pipeline = create_pipeline(database, store, request, save_on_errors=True)
    if pipeline is not None:
        database.write(partial(_set_last_pipeline, schedule_id=schedule.id, pipeline_id=pipeline.id))
    return pipeline


def _given(db: Connection, schedule: PipelineSchedule) -> tuple[tuple[GivenVariable, ...], dict[str, Any]]:
    """Return the variables and inputs of a schedule."""
    variables = tuple(
        GivenVariable(each.key, db.vault.unseal(each.sealed_value), each.variable_type, each.raw)
        for each in variables_of_schedule(db, schedule.id)
    )
    return variables, schedule_inputs(db, schedule)


def _set_last_pipeline(db: Connection, schedule_id: int, pipeline_id: int) -> None:
    db.update(pipeline_schedules, schedule_id, last_pipeline_id=pipeline_id)
