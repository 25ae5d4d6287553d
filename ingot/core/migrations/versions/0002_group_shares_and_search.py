"""Add group shares and the indexes of text search."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

SEARCHED = {
    "projects": ("name_key", "full_path_key"),
    "namespaces": ("name_key", "full_path_key"),
    "users": ("username_key", "name_key", "email"),
    "emails": ("email",),
}


def upgrade() -> None:
    """Add group shares and the indexes of text search."""
    op.create_table(
        "group_shares",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("invited_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group_access", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_group_shares_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["invited_id"], ["namespaces.id"], name=op.f("fk_group_shares_invited_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_group_shares")),
        sa.UniqueConstraint("group_id", "invited_id", name=op.f("uq_group_shares_group_id_invited_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_group_shares_invited_id", "group_shares", ["invited_id"])
    connection = op.get_bind()
    for table, columns in SEARCHED.items():
        if connection.dialect.name == "sqlite":
            _index_embedded(table, columns)
        else:
            _index_on_server(connection, table, columns)


def _index_embedded(table: str, columns: tuple[str, ...]) -> None:
    """Three characters at a time, in a table that holds no text of its own and that triggers keep."""
    index = f"{table}_search"
    names = ", ".join(columns)
    new, old = (", ".join(f"{row}.{column}" for column in columns) for row in ("new", "old"))
    add = f"INSERT INTO {index} (rowid, {names}) VALUES (new.id, {new});"  # noqa: S608 - Names of our own.
    drop = f"INSERT INTO {index} ({index}, rowid, {names}) VALUES ('delete', old.id, {old});"  # noqa: S608 - The same.
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5 "
        f"({names}, content='{table}', content_rowid='id', tokenize='trigram case_sensitive 1')"
    )
    op.execute(f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {add} END")
    op.execute(f"CREATE TRIGGER {index}_dropped AFTER DELETE ON {table} BEGIN {drop} END")
    op.execute(f"CREATE TRIGGER {index}_changed AFTER UPDATE OF {names} ON {table} BEGIN {drop} {add} END")
    op.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")  # noqa: S608 - Names of our own.


def _index_on_server(connection: sa.Connection, table: str, columns: tuple[str, ...]) -> None:
    """The same by an extension that most servers have; where it cannot be made, searches read the whole table."""
    available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'"
    if connection.exec_driver_sql(available).fetchone() is None:
        return
    indexed = ", ".join(f"{column} gin_trgm_ops" for column in columns)
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            connection.exec_driver_sql(f"CREATE INDEX ix_{table}_search ON {table} USING gin ({indexed})")
    except sa.exc.DBAPIError:
        return
