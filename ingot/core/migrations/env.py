"""Alembic environment: runs scripts on the connection that ``upgrade`` passes."""

from typing import Any

from alembic import context
from sqlalchemy import ForeignKeyConstraint, MetaData, inspect


def _is_declared(name: str | None, kind: str, _parents: Any) -> bool:
    """Return whether code declares an object; some tables are created by scripts only."""
    return kind != "table" or not ("_search" in (name or "") or name in ("row_versions", "row_changes"))


def _reference(key: ForeignKeyConstraint) -> tuple[str, ...]:
    return key.table.name, key.referred_table.name, *key.column_keys


def _unnamed_references() -> set[tuple[str, ...]]:
    """Return the foreign keys whose names cannot be read: those that SQLite added together with a column."""
    inspector = inspect(connection)
    return {
        (table, key["referred_table"], *key["constrained_columns"])
        for table in inspector.get_table_names()
        for key in inspector.get_foreign_keys(table)
        if key["name"] is None
    }


def _is_compared(item: Any, name: str | None, kind: str, reflected: bool, _: Any) -> bool:
    """Return whether to compare an object: a foreign key without a readable name only if one side lacks it."""
    if kind != "foreign_key_constraint":
        return True
    if not reflected:
        return _reference(item) not in unnamed
    declared = metadata.tables[item.table.name].foreign_key_constraints
    return name is not None or _reference(item) not in map(_reference, declared)


connection = context.config.attributes["connection"]
metadata: MetaData = context.config.attributes.get("metadata", MetaData())
unnamed = _unnamed_references() if metadata.tables else set()
context.configure(
    connection=connection,
    target_metadata=metadata,
    transaction_per_migration=True,
    transactional_ddl=True,
    render_as_batch=True,
    include_name=_is_declared,
    include_object=_is_compared,
)
with context.begin_transaction():
    context.run_migrations()
