"""Queries of pipeline schedules."""

from sqlalchemy import bindparam, func, select

from ingot.ci.schedules.tables import PipelineSchedule, ScheduleVariable, pipeline_schedules, schedule_variables
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.pipelines.tables import Pipeline, pipelines

_BY_ID = select(pipeline_schedules).where(pipeline_schedules.c.id == bindparam("schedule"))
_IN_PROJECT = select(pipeline_schedules).where(pipeline_schedules.c.project_id == bindparam("project"))
_COUNT = (
    select(func.count()).select_from(pipeline_schedules).where(pipeline_schedules.c.project_id == bindparam("project"))
)
_BY_ID_IN_PROJECT = _IN_PROJECT.where(pipeline_schedules.c.id == bindparam("schedule"))
_LISTS = {
    None: list_query(_IN_PROJECT, pipeline_schedules.c.id, pipeline_schedules.c.id.desc()),
    "active": list_query(
        _IN_PROJECT.where(pipeline_schedules.c.active), pipeline_schedules.c.id, pipeline_schedules.c.id.desc()
    ),
    "inactive": list_query(
        _IN_PROJECT.where(~pipeline_schedules.c.active), pipeline_schedules.c.id, pipeline_schedules.c.id.desc()
    ),
}
_OVERDUE = (
    select(pipeline_schedules)
    .where(pipeline_schedules.c.active, pipeline_schedules.c.next_run_at < bindparam("moment"))
    .order_by(pipeline_schedules.c.next_run_at, pipeline_schedules.c.id)
    .limit(bindparam("limit"))
)
_OWNED_BY = select(pipeline_schedules).where(
    pipeline_schedules.c.owner_id == bindparam("owner"), pipeline_schedules.c.active
)
_VARIABLES = (
    select(schedule_variables)
    .where(schedule_variables.c.schedule_id == bindparam("schedule"))
    .order_by(schedule_variables.c.id)
)
_VARIABLE = _VARIABLES.where(schedule_variables.c.key == bindparam("key"))
_PIPELINES = list_query(
    select(pipelines).where(
        pipelines.c.project_id == bindparam("project"), pipelines.c.origin_key.like(bindparam("pattern"))
    ),
    pipelines.c.id,
    pipelines.c.id.asc(),
)


def list_schedules(db: Connection, project_id: int, scope: str | None, page: Page) -> Listing[PipelineSchedule]:
    """List a page of a project's schedules, newest first."""
    return fetch_page(db, PipelineSchedule, _LISTS[scope], page, project=project_id)


def count_schedules(db: Connection, project_id: int) -> int:
    """Return the number of a project's schedules."""
    count: int = db.value(_COUNT, project=project_id)
    return count


def schedule_or_none(db: Connection, project_id: int, schedule_id: int) -> PipelineSchedule | None:
    """Return a project's schedule, if it exists."""
    return db.first(PipelineSchedule, _BY_ID_IN_PROJECT, project=project_id, schedule=schedule_id)


def find_schedule(db: Connection, project_id: int, schedule_id: int) -> PipelineSchedule:
    """Return a project's schedule; raise NotFound otherwise."""
    schedule = schedule_or_none(db, project_id, schedule_id)
    if schedule is None:
        raise NotFound("Pipeline Schedule")
    return schedule


def schedule_by_id_or_none(db: Connection, schedule_id: int) -> PipelineSchedule | None:
    """Return a schedule of any project, if it exists."""
    return db.first(PipelineSchedule, _BY_ID, schedule=schedule_id)


def overdue_schedules(db: Connection, moment: Timestamp, limit: int) -> list[PipelineSchedule]:
    """Return schedules that should have run before a moment."""
    return db.all(PipelineSchedule, _OVERDUE, moment=moment, limit=limit)


def active_schedules_of_owner(db: Connection, user_id: int) -> list[PipelineSchedule]:
    """Return the active schedules that run in a user's name."""
    return db.all(PipelineSchedule, _OWNED_BY, owner=user_id)


def variables_of_schedule(db: Connection, schedule_id: int) -> list[ScheduleVariable]:
    """Return the variables of a schedule."""
    return db.all(ScheduleVariable, _VARIABLES, schedule=schedule_id)


def schedule_variable_or_none(db: Connection, schedule_id: int, key: str) -> ScheduleVariable | None:
    """Return a variable of a schedule, if it exists."""
    return db.first(ScheduleVariable, _VARIABLE, schedule=schedule_id, key=key)


def find_schedule_variable(db: Connection, schedule_id: int, key: str) -> ScheduleVariable:
    """Return a variable of a schedule; raise NotFound otherwise."""
    variable = schedule_variable_or_none(db, schedule_id, key)
    if variable is None:
        raise NotFound("Pipeline Schedule Variable")
    return variable


def origin_prefix(schedule_id: int) -> str:
    """Return the beginning of the origin keys of a schedule's pipelines."""
    return f"schedule {schedule_id} "


def list_schedule_pipelines(db: Connection, schedule: PipelineSchedule, page: Page) -> Listing[Pipeline]:
    """List a page of the pipelines that a schedule has created."""
    pattern = origin_prefix(schedule.id) + "%"
    return fetch_page(db, Pipeline, _PIPELINES, page, project=schedule.project_id, pattern=pattern)
