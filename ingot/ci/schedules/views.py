"""Response structs of pipeline schedules."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.ci.pipelines.tables import VariableType
from ingot.ci.schedules.inputs import schedule_inputs
from ingot.ci.schedules.queries import variables_of_schedule
from ingot.ci.schedules.tables import PipelineSchedule, ScheduleVariable
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.views import PipelineBrief, pipeline_brief


class ScheduleVariableView(View):
    """A variable of a schedule."""

    key: str
    variable_type: VariableType
    value: str
    raw: bool


class ScheduleInputView(View):
    """A value for an input of the configuration."""

    name: str
    value: Any


class ScheduleView(View):
    """A schedule in lists."""

    id: int
    description: str
    ref: str
    cron: str
    cron_timezone: str
    next_run_at: Timestamp | None
    active: bool
    created_at: Timestamp
    updated_at: Timestamp
    owner: UserBrief | None


class ScheduleDetailView(ScheduleView):
    """A schedule with its newest pipeline; only users who may change it see its variables and inputs."""

    last_pipeline: PipelineBrief | None
    variables: list[ScheduleVariableView] | UnsetType = UNSET
    inputs: list[ScheduleInputView] | UnsetType = UNSET


class PlayedScheduleView(View):
    """Confirmation of a pipeline that was started."""

    message: str = "201 Created"


def schedule_views(db: Connection, schedules: Sequence[PipelineSchedule], base: str) -> list[ScheduleView]:
    """Return the views of a page of schedules."""
    owners = user_briefs_by_ids(db, [schedule.owner_id for schedule in schedules], base)
    return [ScheduleView(*_fields(schedule, owners)) for schedule in schedules]


def schedule_detail(
    db: Connection, schedule: PipelineSchedule, base: str, project_url: str, *, with_variables: bool
) -> ScheduleDetailView:
    """Return the view of one schedule."""
    owners = user_briefs_by_ids(db, [schedule.owner_id], base)
    pipeline_id = schedule.last_pipeline_id
    last = pipelines_by_ids(db, [pipeline_id]).get(pipeline_id) if pipeline_id is not None else None
    return ScheduleDetailView(
        *_fields(schedule, owners),
        last_pipeline=pipeline_brief(last, project_url) if last is not None else None,
        variables=[schedule_variable_view(db, variable) for variable in variables_of_schedule(db, schedule.id)]
        if with_variables
        else UNSET,
        inputs=[ScheduleInputView(*each) for each in schedule_inputs(db, schedule).items()]
        if with_variables
        else UNSET,
    )


def schedule_variable_view(db: Connection, variable: ScheduleVariable) -> ScheduleVariableView:
    """Return the view of a variable with its decrypted value."""
    value = db.vault.unseal(variable.sealed_value)
    return ScheduleVariableView(variable.key, variable.variable_type, value, variable.raw)


def _fields(
    schedule: PipelineSchedule, owners: dict[int, UserBrief]
) -> tuple[int, str, str, str, str, Timestamp | None, bool, Timestamp, Timestamp, UserBrief | None]:
    return (
        schedule.id,
        schedule.description,
        schedule.ref,
        schedule.cron,
        schedule.cron_timezone,
        schedule.next_run_at,
        schedule.active,
        schedule.created_at,
        schedule.updated_at,
        owners.get(schedule.owner_id) if schedule.owner_id is not None else None,
    )
