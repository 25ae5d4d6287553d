"""Storage of CI variables and of badges, of projects and groups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.import_export.records import BadgeRecord, VariableRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, rows_by_ids, update_rows
from ingot.import_export.target.text import limited
from ingot.projects.badges.service import validate_badge
from ingot.projects.badges.tables import badges
from ingot.projects.variables.queries import VariableOwner, variable_owner
from ingot.projects.variables.service import key_errors, variable_errors
from ingot.projects.variables.tables import variables

_MAX_TEXT = 255
_BY_KEYS = select(variables.c.id, variables.c.key, variables.c.environment_scope).where(
    variables.c.place == bindparam("of"), in_list(variables.c.key, "keys")
)


def store_variables(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the variables of the project."""
    records = {change.key: change.record for change in changes}
    return write_variables(context.db, variable_owner(context.project), records, context.problem)


def write_variables(
    db: Connection, owner: VariableOwner, records: Mapping[str, VariableRecord], problem: Callable[[str], None]
) -> dict[str, int | None]:
    """Store variables of a project or group; one with the same key and scope is replaced.

    A value that cannot be masked here is stored unmasked, because jobs would fail without it.
    """
    rows = {key: _columns(db, record, problem) for key, record in records.items()}
    stored_rows = db.rows(_BY_KEYS, of=owner.name, keys=[record.name for record in records.values()])
    stored = {(name, scope): row_id for row_id, name, scope in stored_rows}
    ids: dict[str, int | None] = {}
    inserted: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    updated: dict[int, dict[str, Any]] = {}
    for key, columns in rows.items():
        unique = records[key].name, records[key].environment_scope
        row_id = stored.get(unique)
        ids[key] = row_id
        if columns is None:
            ids[key] = None
        elif row_id is not None:
            updated[row_id] = columns
        else:
            inserted[unique] = key, columns
    update_rows(db, variables, updated.items())
    fixed = {"place": owner.name, "project_id": owner.project_id, "group_id": owner.group_id, "created_at": db.now}
    new = [
        {**fixed, "key": name, "environment_scope": scope, **columns}
        for (name, scope), (_, columns) in inserted.items()
    ]
    return ids | dict(zip([key for key, _ in inserted.values()], insert_rows(db, variables, new), strict=True))


def _columns(db: Connection, record: VariableRecord, problem: Callable[[str], None]) -> dict[str, Any] | None:
    columns = {
        "variable_type": record.variable_type if record.variable_type in ("env_var", "file") else "env_var",
        "protected": record.protected,
        "masked": record.masked,
        "hidden": False,
        "raw": record.raw,
        "description": limited(record.description or "", _MAX_TEXT) or None,
    }
    scope = {"environment_scope": record.environment_scope}
    if record.masked and variable_errors({**columns, **scope}, record.value):
        columns["masked"] = False
        if not variable_errors({**columns, **scope}, record.value):
            problem(f"The variable {record.name} is not masked, because its value cannot be masked here.")
    errors = key_errors(record.name) | variable_errors({**columns, **scope}, record.value)
    if errors:
        problem(f"The variable {record.name[:_MAX_TEXT]!r} was omitted: {Invalid(**errors)}.")
        return None
    return {**columns, "sealed_value": db.vault.seal(record.value), "updated_at": db.now}


def store_badges(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the badges of the project."""
    db = context.db
    known = rows_by_ids(db, badges, {change.local_id for change in changes if change.local_id}, "id")
    columns = {change.key: badge_columns(change.record, context.problem) for change in changes}
    kept = [change for change in changes if columns[change.key] is not None]
    ids: dict[str, int | None] = {change.key: None for change in changes}
    ids |= {change.key: change.local_id for change in kept if change.local_id in known}
    update_rows(db, badges, [(ids[change.key] or 0, columns[change.key] or {}) for change in kept if ids[change.key]])
    new = [change.key for change in kept if not ids[change.key]]
    owner = {"project_id": context.project.id, "group_id": None, "created_at": db.now}
    rows = [{**owner, **(columns[key] or {})} for key in new]
    return ids | dict(zip(new, insert_rows(db, badges, rows), strict=True))


def badge_columns(record: BadgeRecord, problem: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the columns of a badge, or None if its URLs cannot be shown."""
    name = limited(record.name or "", _MAX_TEXT) or None
    try:
        validate_badge(name, record.link_url, record.image_url)
    except Invalid as error:
        problem(f"The badge {record.link_url!r} was omitted: {error}.")
        return None
    return {"name": name, "link_url": record.link_url, "image_url": record.image_url}
