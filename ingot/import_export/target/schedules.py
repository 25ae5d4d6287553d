"""Storage of pipeline schedules; they are inactive until their owners activate them."""

from collections.abc import Sequence
from typing import Any

from ingot.ci.schedules.inputs import changed_inputs, sealed_inputs
from ingot.ci.schedules.params import ScheduleInputParams
from ingot.ci.schedules.service import MAX_LENGTH, MAX_VALUE_LENGTH, next_run
from ingot.ci.schedules.tables import pipeline_schedules, schedule_variables
from ingot.core.errors import Invalid
from ingot.import_export.records import ScheduleRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import (
    Relation,
    insert_rows,
    moment,
    replace_rows,
    rows_by_ids,
    update_rows,
)
from ingot.import_export.target.text import limited
from ingot.projects.variables.service import key_errors

# Sealed values differ each time, so the variables of a changed schedule are all written again.
_VARIABLES = Relation(schedule_variables, "schedule_id", ("schedule_id", "key", "sealed_value"))


def store_schedules(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store schedules with their variables."""
    db = context.db
    columns = {change.key: _columns(context, change.record) for change in changes}
    known = rows_by_ids(db, pipeline_schedules, {change.local_id for change in changes if change.local_id}, "id")
    kept = [change for change in changes if columns[change.key] is not None]
    ids: dict[str, int | None] = {change.key: None for change in changes}
    ids |= {change.key: change.local_id for change in kept if change.local_id in known}
    existing = [row_id for row_id in ids.values() if row_id]
    updated = [(ids[change.key] or 0, columns[change.key] or {}) for change in kept if ids[change.key]]
    update_rows(db, pipeline_schedules, updated)
    new = [change.key for change in kept if not ids[change.key]]
    fixed = {
        "project_id": context.project.id,
        "active": False,
        "last_pipeline_id": None,
    }
    created = {change.key: moment(change.record.created_at, db.now) for change in kept}
    rows = [
        {
            **fixed,
            **(known_columns := columns[key] or {}),
            "created_at": created[key],
            "next_run_at": next_run(db, known_columns),
        }
        for key in new
    ]
    ids |= dict(zip(new, insert_rows(db, pipeline_schedules, rows), strict=True))
    variables = [
        {"schedule_id": ids[change.key], **row} for change in kept for row in _variables(context, change.record)
    ]
    replace_rows(db, _VARIABLES, existing, variables)
    return ids


def _columns(context: StoreContext, record: ScheduleRecord) -> dict[str, Any] | None:
    columns = {
        "description": limited(record.description, MAX_LENGTH) or "Schedule",
        "ref": record.ref.removeprefix("refs/heads/").removeprefix("refs/tags/"),
        "cron": record.cron,
        "cron_timezone": record.cron_timezone,
    }
    try:
        next_run(context.db, columns)
    except Invalid as error:
        context.problem(f"The pipeline schedule {columns['description']!r} was omitted: {error}.")
        return None
    owner = context.user_or_none(record.owner) or context.importer_id
    return {
        **columns,
        "owner_id": owner,
        "updated_at": moment(record.updated_at, context.db.now),
        "sealed_inputs": _inputs(context, record),
    }


def _inputs(context: StoreContext, record: ScheduleRecord) -> bytes | None:
    try:
        inputs = changed_inputs({}, [ScheduleInputParams(*each) for each in record.inputs.items()])
    except Invalid as error:
        context.problem(f"The inputs of the pipeline schedule {record.description!r} were omitted: {error}.")
        return None
    return sealed_inputs(context.db, inputs)


def _variables(context: StoreContext, record: ScheduleRecord) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for variable in record.variables:
        if key_errors(variable.name) or len(variable.value) > MAX_VALUE_LENGTH:
            context.problem(f"A variable of the pipeline schedule {record.description!r} was omitted.")
            continue
        rows[variable.name] = {
            "key": variable.name,
            "sealed_value": context.db.vault.seal(variable.value),
            "variable_type": variable.variable_type if variable.variable_type in ("env_var", "file") else "env_var",
            "raw": variable.raw,
        }
    return list(rows.values())
