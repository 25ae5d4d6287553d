"""State changes of pipeline schedules."""

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, update

from ingot.accounts.instance.all_settings import all_settings
from ingot.ci.cron.expressions import InvalidCron, next_occurrence
from ingot.ci.cron.time_zones import time_zone_or_none
from ingot.ci.schedules.inputs import changed_inputs, schedule_inputs, sealed_inputs
from ingot.ci.schedules.params import CreateSchedule, CreateScheduleVariable, EditSchedule, EditScheduleVariable
from ingot.ci.schedules.queries import count_schedules, find_schedule, find_schedule_variable, schedule_variable_or_none
from ingot.ci.schedules.tables import PipelineSchedule, ScheduleVariable, pipeline_schedules, schedule_variables
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, timestamp, to_datetime
from ingot.core.errors import Invalid, too_long_message
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.tables import Project

RUN_SCHEDULE = "run_pipeline_schedule"
MAX_LENGTH = 255
MAX_VALUE_LENGTH = 65_535
_SYNTAX_ERROR = " is invalid syntax"
_UTC = ZoneInfo("Etc/UTC")
_KEY = re.compile(r"[A-Za-z0-9_]+")
# Of several processes that run the same occurrence, one changes the row.
_CLAIM = (
    update(pipeline_schedules)
    .where(
        pipeline_schedules.c.id == bindparam("schedule"),
        pipeline_schedules.c.active,
        pipeline_schedules.c.next_run_at == bindparam("due"),
    )
    .values(next_run_at=bindparam("following"))
)


class ScheduledRun(msgspec.Struct, frozen=True):
    """Payload of the jobs: one occurrence of a schedule."""

    schedule_id: int
    due: Timestamp


def create_schedule(db: Connection, actor: Actor, project: Project, params: CreateSchedule) -> PipelineSchedule:
    """Create a schedule that runs in the caller's name."""
    columns = given_fields(params, "inputs")
    following = next_run(db, columns)
    inputs = changed_inputs({}, params.inputs or [])
    limit = all_settings(db).ci_pipeline_schedules
    if 0 < limit <= count_schedules(db, project.id):
        raise Invalid(base=[f"Maximum number of pipeline schedules ({limit}) exceeded"])
    schedule_id = db.insert(
        pipeline_schedules,
        **columns,
        project_id=project.id,
        owner_id=actor.user_id,
        created_at=db.now,
        updated_at=db.now,
        sealed_inputs=sealed_inputs(db, inputs),
    )
    _set_next_run(db, schedule_id, following, planned=params.active)
    return find_schedule(db, project.id, schedule_id)


def edit_schedule(db: Connection, schedule: PipelineSchedule, params: EditSchedule) -> PipelineSchedule:
    """Update the fields that were sent and compute the next run anew."""
    columns = {name: getattr(schedule, name) for name in ("description", "ref", "cron", "cron_timezone", "active")}
    columns |= given_fields(params, "inputs")
    following = next_run(db, columns)
    if params.inputs:
        inputs = changed_inputs(schedule_inputs(db, schedule), params.inputs)
        columns["sealed_inputs"] = sealed_inputs(db, inputs)
    db.update(pipeline_schedules, schedule.id, **columns, updated_at=db.now)
    _set_next_run(db, schedule.id, following, planned=columns["active"])
    return find_schedule(db, schedule.project_id, schedule.id)


def take_schedule_ownership(db: Connection, actor: Actor, schedule: PipelineSchedule) -> PipelineSchedule:
    """Make the caller the owner of a schedule."""
    db.update(pipeline_schedules, schedule.id, owner_id=actor.user_id, updated_at=db.now)
    return find_schedule(db, schedule.project_id, schedule.id)


def delete_schedule(db: Connection, schedule: PipelineSchedule) -> None:
    """Delete a schedule; its pipelines remain."""
    db.delete(pipeline_schedules, schedule.id)


def deactivate_schedule(db: Connection, schedule: PipelineSchedule) -> None:
    """Stop a schedule whose owner may not run pipelines any more."""
    db.update(pipeline_schedules, schedule.id, active=False, updated_at=db.now)


def plan_overdue_run(db: Connection, schedule: PipelineSchedule) -> None:
    """Add the job of a run again, in case that it was lost."""
    if schedule.next_run_at is not None:
        _plan_run(db, schedule.id, schedule.next_run_at)


def claim_run(db: Connection, schedule: PipelineSchedule, run: ScheduledRun) -> bool:
    """Set the next run of a schedule; return False if this run was claimed before or is planned no more.

    Occurrences that passed while no worker ran are left out.
    """
    following = next_run(
        db, {name: getattr(schedule, name) for name in ("description", "ref", "cron", "cron_timezone")}
    )
    if db.run_counted(_CLAIM, schedule=schedule.id, due=run.due, following=following) == 0:
        return False
    _plan_run(db, schedule.id, following)
    return True


def create_schedule_variable(
    db: Connection, schedule: PipelineSchedule, params: CreateScheduleVariable
) -> ScheduleVariable:
    """Create a variable of a schedule."""
    key = params.key.strip()
    if not key:
        raise Invalid(key=["can't be blank"])
    if len(key) > MAX_LENGTH:
        raise Invalid(key=[too_long_message(MAX_LENGTH)])
    if not _KEY.fullmatch(key):
        raise Invalid(key=["can contain only letters, digits and '_'."])
    if schedule_variable_or_none(db, schedule.id, key) is not None:
        raise Invalid(key=[f"({key}) has already been taken"])
    db.insert(
        schedule_variables,
        schedule_id=schedule.id,
        key=key,
        sealed_value=db.vault.seal(_checked_value(params.value)),
        variable_type=params.variable_type,
        raw=params.raw,
    )
    return find_schedule_variable(db, schedule.id, key)


def edit_schedule_variable(
    db: Connection, variable: ScheduleVariable, params: EditScheduleVariable
) -> ScheduleVariable:
    """Change the given fields of a variable."""
    columns = given_fields(params, "value")
    if params.value is not UNSET:
        columns["sealed_value"] = db.vault.seal(_checked_value(params.value))
    if columns:
        db.update(schedule_variables, variable.id, **columns)
    return find_schedule_variable(db, variable.schedule_id, variable.key)


def delete_schedule_variable(db: Connection, variable: ScheduleVariable) -> None:
    """Delete a variable."""
    db.delete(schedule_variables, variable.id)


def _checked_value(value: str) -> str:
    if len(value) > MAX_VALUE_LENGTH:
        raise Invalid(value=[too_long_message(MAX_VALUE_LENGTH)])
    return value


def next_run(db: Connection, columns: dict[str, Any]) -> Timestamp:
    """Return the next run of a schedule with these columns; raise Invalid with the errors of each field."""
    errors: dict[str, list[str]] = {}
    for name in ("description", "ref"):
        if not columns[name].strip():
            errors[name] = ["can't be blank"]
        elif len(columns[name]) > MAX_LENGTH:
            errors[name] = [too_long_message(MAX_LENGTH)]
    zone = time_zone_or_none(columns["cron_timezone"])
    if zone is None:
        errors["cron_timezone"] = [_SYNTAX_ERROR]
    following: datetime | None = None
    try:
        following = next_occurrence(columns["cron"], zone or _UTC, to_datetime(db.now))
    except InvalidCron:
        errors["cron"] = [_SYNTAX_ERROR]
    if errors or following is None:
        raise Invalid(**errors)
    return timestamp(following)


def _set_next_run(db: Connection, schedule_id: int, following: Timestamp, *, planned: bool) -> None:
    """Set the next run, which readers of an inactive schedule see, too; only an active one runs then."""
    db.update(pipeline_schedules, schedule_id, next_run_at=following)
    if planned:
        _plan_run(db, schedule_id, following)


def _plan_run(db: Connection, schedule_id: int, due: Timestamp) -> None:
    """Add the job that runs a schedule at the right moment; it does nothing if the schedule has changed until then."""
    enqueue(db, RUN_SCHEDULE, ScheduledRun(schedule_id, due), run_at=due, unique_key=f"schedule {schedule_id} {due}")
