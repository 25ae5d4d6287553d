"""Alembic environment: runs scripts on the connection that ``upgrade`` passes."""

from typing import Any

from alembic import context


def _is_declared(name: str | None, kind: str, _parents: Any) -> bool:
    """Return whether code declares an object; some tables are created by scripts only."""
    return kind != "table" or not ("_search" in (name or "") or name in ("row_versions", "row_changes"))


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=context.config.attributes.get("metadata"),
    transaction_per_migration=True,
    transactional_ddl=True,
    render_as_batch=True,
    include_name=_is_declared,
)
with context.begin_transaction():
    context.run_migrations()
