"""Add moves of repositories between storages."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add moves of repositories between storages."""
    op.create_table(
        "repository_locks",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_repository_locks_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository_locks")),
        sa.UniqueConstraint("project_id", name=op.f("uq_repository_locks_project_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "repository_storage_moves",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("source_storage_name", sa.Text(), nullable=False),
        sa.Column("destination_storage_name", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_repository_storage_moves_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository_storage_moves")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_repository_storage_moves_project_id"), "repository_storage_moves", ["project_id"])
