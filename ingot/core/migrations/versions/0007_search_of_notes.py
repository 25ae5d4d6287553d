"""Index notes and snippets for searches, and issues for lists."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Index notes and snippets for searches, and issues for lists."""
    shown = ("id", "project_id", "state", "confidential", "deleted_at")
    op.create_index("ix_issues_created_at", "issues", ["created_at", *shown])
    op.create_index("ix_issues_updated_at", "issues", ["updated_at", *shown])
    own = ("id", "project_id", "state", "deleted_at")
    op.create_index("ix_issues_author_id_created_at", "issues", ["author_id", "created_at", *own])
    op.create_index("ix_issues_author_id_updated_at", "issues", ["author_id", "updated_at", *own])
    confidential = sa.column("confidential", sa.Boolean()).is_(True)
    op.create_index(
        "ix_issues_confidential",
        "issues",
        ["confidential", "author_id", "project_id"],
        sqlite_where=confidential,
        postgresql_where=confidential,
    )
    op.create_index("ix_milestones_due_date", "milestones", ["due_date", "id", "project_id", "group_id"])
    _index("notes", ("body",))
    _index("snippets", ("title", "description"))
    _index("snippet_files", ("path", "content"))


def _index(table: str, columns: tuple[str, ...]) -> None:
    """Let a text be found anywhere in the columns, whatever its case, three characters at a time."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        _index_embedded(table, columns)
    else:
        _index_on_server(connection, table, columns)


def _index_embedded(table: str, columns: tuple[str, ...]) -> None:
    """In a table that holds no text of its own and that triggers keep."""
    index = f"{table}_search"
    names = ", ".join(columns)
    new, old = (", ".join(f"{row}.{column}" for column in columns) for row in ("new", "old"))
    add = f"INSERT INTO {index} (rowid, {names}) VALUES (new.id, {new});"  # noqa: S608 - Names of our own.
    drop = f"INSERT INTO {index} ({index}, rowid, {names}) VALUES ('delete', old.id, {old});"  # noqa: S608 - The same.
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5 ({names}, content='{table}', content_rowid='id', tokenize='trigram')"
    )
    op.execute(f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {add} END")
    op.execute(f"CREATE TRIGGER {index}_dropped AFTER DELETE ON {table} BEGIN {drop} END")
    op.execute(f"CREATE TRIGGER {index}_changed AFTER UPDATE OF {names} ON {table} BEGIN {drop} {add} END")
    op.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")  # noqa: S608 - Names of our own.


def _index_on_server(connection: sa.Connection, table: str, columns: tuple[str, ...]) -> None:
    """By an extension that most servers have; where it cannot be made, searches read the whole table."""
    available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'"
    if connection.exec_driver_sql(available).fetchone() is None:
        return
    indexed = ", ".join(f"lower({column}) gin_trgm_ops" for column in columns)
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            connection.exec_driver_sql(f"CREATE INDEX ix_{table}_search ON {table} USING gin ({indexed})")
    except sa.exc.DBAPIError:
        return
