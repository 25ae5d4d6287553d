"""Inputs of pipeline schedules: values for ``spec:inputs`` of the configuration, encrypted in the row."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.ci.schedules.params import ScheduleInputParams
from ingot.ci.schedules.tables import PipelineSchedule
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message

MAX_INPUTS = 20
_MAX_NAME_LENGTH = 255
_MAX_VALUE_LENGTH = 65_535


def schedule_inputs(db: Connection, schedule: PipelineSchedule) -> dict[str, Any]:
    """Return the inputs of a schedule by name."""
    if schedule.sealed_inputs is None:
        return {}
    inputs: dict[str, Any] = msgspec.json.decode(db.vault.unseal(schedule.sealed_inputs))
    return inputs


def changed_inputs(inputs: dict[str, Any], sent: Sequence[ScheduleInputParams]) -> dict[str, Any]:
    """Return inputs with those that were sent added, replaced or removed; raise Invalid."""
    if len({each.name for each in sent}) < len(sent):
        raise Invalid(inputs=["have duplicate values"])
    changed = dict(inputs)
    for each in sent:
        if each.destroy:
            changed.pop(each.name, None)
        else:
            changed[each.name] = _checked(each)
    if len(changed) > MAX_INPUTS:
        raise Invalid(inputs=[f"exceeds the limit of {MAX_INPUTS}."])
    return changed


def sealed_inputs(db: Connection, inputs: dict[str, Any]) -> bytes | None:
    """Return inputs in their encrypted form."""
    return db.vault.seal(msgspec.json.encode(inputs).decode()) if inputs else None


def _checked(sent: ScheduleInputParams) -> Any:
    if not sent.name.strip():
        raise Invalid(**{"inputs.name": ["can't be blank"]})
    if len(sent.name) > _MAX_NAME_LENGTH:
        raise Invalid(**{"inputs.name": [too_long_message(_MAX_NAME_LENGTH)]})
    if not isinstance(sent.value, str | int | float | list):
        raise Invalid(**{"inputs.value": [f"of {sent.name} must be a string, number, boolean or array"]})
    if len(msgspec.json.encode(sent.value)) > _MAX_VALUE_LENGTH:
        raise Invalid(**{"inputs.value": [f"exceeds max serialized size: {_MAX_VALUE_LENGTH} characters"]})
    return sent.value
