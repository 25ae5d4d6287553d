"""Alembic's entry: runs scripts on the connection that ``run.migrate`` hands over."""

from typing import Any

from alembic import context


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    """The indexes for searches, with what they keep beside them, are no tables that code declares."""
    return kind != "table" or "_search" not in (name or "")


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=context.config.attributes.get("metadata"),
    transaction_per_migration=True,
    transactional_ddl=True,
    render_as_batch=True,
    include_name=_is_ours,
)
with context.begin_transaction():
    context.run_migrations()
