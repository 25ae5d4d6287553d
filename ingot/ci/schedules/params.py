"""Request parameters of pipeline schedules."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from ingot.ci.pipelines.tables import VariableType
from ingot.core.api.params import Params


class ListSchedules(Params):
    """Filter of schedules."""

    scope: Literal["active", "inactive"] | None = None


class ScheduleInputParams(Params):
    """A value for an input of the configuration; ``destroy`` removes it from the schedule."""

    name: str
    value: Any = None
    destroy: bool = False


class CreateSchedule(Params):
    """A new schedule."""

    description: str
    ref: str
    cron: str
    cron_timezone: str = "UTC"
    active: bool = True
    inputs: list[ScheduleInputParams] | None = None


class EditSchedule(Params):
    """Changes of a schedule."""

    description: str | UnsetType = UNSET
    ref: str | UnsetType = UNSET
    cron: str | UnsetType = UNSET
    cron_timezone: str | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    inputs: list[ScheduleInputParams] | None = None


class CreateScheduleVariable(Params):
    """A new variable of a schedule."""

    key: str
    value: str
    variable_type: VariableType = "env_var"
    raw: bool = False


class EditScheduleVariable(Params):
    """Changes of a variable of a schedule."""

    value: str | UnsetType = UNSET
    variable_type: VariableType | UnsetType = UNSET
    raw: bool | UnsetType = UNSET
