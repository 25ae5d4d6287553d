"""Storage of protected branches, tags and environments."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, bindparam, delete, select

from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.import_export.tables import imported_sources
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, rows_by_values, update_rows
from ingot.projects.environments.protection.service import replace_rule
from ingot.repositories.protection.service import MAX_RULES, validate_rule_name
from ingot.repositories.protection.tables import protected_branches, protected_tags

_LEVELS = (0, 30, 40)
_INITIAL = select(protected_branches.c.name).where(
    protected_branches.c.project_id == bindparam("project"),
    protected_branches.c.created_at
    == select(imported_sources.c.created_at).where(imported_sources.c.id == bindparam("import")).scalar_subquery(),
)
_DELETE = delete(protected_branches).where(
    protected_branches.c.project_id == bindparam("project"), in_list(protected_branches.c.name, "names")
)


def store_protected_branches(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the rules of branches; a rule of the same name is replaced, and without rules the branches are open."""
    columns = {
        change.key: {
            "push_level": _level(change.record.push_level),
            "merge_level": _level(change.record.merge_level),
            "allow_force_push": change.record.allow_force_push,
        }
        for change in changes
    }
    _delete_initial_rules(context)
    return _store(context, changes, protected_branches, columns)


def _delete_initial_rules(context: StoreContext) -> None:
    """Delete the rules with which the project was created for the import: the source has its own."""
    values = {"project": context.project.id, "import": context.import_id}
    initial = {name for (name,) in context.db.rows(_INITIAL, **values)}
    obsolete = initial - context.linked("protected_branches", sorted(initial)).keys()
    if obsolete:
        context.db.run(_DELETE, project=context.project.id, names=sorted(obsolete))


def store_protected_tags(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the rules of tags; a rule of the same name is replaced."""
    columns = {change.key: {"create_level": _level(change.record.create_level)} for change in changes}
    return _store(context, changes, protected_tags, columns)


def store_protected_environments(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store the rules of environments with their roles; a rule of the same name is replaced."""
    ids = dict[str, int | None]()
    for change in changes[:MAX_RULES]:
        record = change.record
        if record.others:
            context.problem(f"Users and groups that may deploy to {record.name!r} were omitted: name them again.")
        try:
            ids[change.key] = replace_rule(context.db, context.project, record.name, record.access_levels)
        except Invalid as error:
            context.problem(f"The protection of the environment {record.name!r} was omitted: {error}.")
    return ids


def _level(level: int) -> int:
    """Return the lowest level of a rule that is not below the source's; no one is allowed if it is unknown."""
    return next((known for known in _LEVELS[1:] if 0 < level <= known), 0)


def _store(
    context: StoreContext, changes: Sequence[Change], table: Table, columns: dict[str, dict[str, Any]]
) -> StoredIds:
    db, project_id = context.db, context.project.id
    valid: list[str] = []
    for change in changes[:MAX_RULES]:
        try:
            validate_rule_name(change.key)
            valid.append(change.key)
        except Invalid as error:
            context.problem(f"The protection of {change.key!r} was omitted: {error}.")
    rows = rows_by_values(db, table, ("project_id", project_id), "name", valid, "id")
    stored = {name: row_id for name, (row_id,) in rows.items()}
    update_rows(db, table, [(row_id, columns[name]) for name, row_id in stored.items()])
    new = [name for name in valid if name not in stored]
    inserted = [{"project_id": project_id, "name": name, "created_at": db.now, **columns[name]} for name in new]
    ids = stored | dict(zip(new, insert_rows(db, table, inserted), strict=True))
    return {change.key: ids.get(change.key) for change in changes}
