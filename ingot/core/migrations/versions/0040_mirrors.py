"""Add push and pull mirrors."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add push and pull mirrors."""
    op.create_table(
        "remote_mirrors",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("sealed_url", sa.LargeBinary(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("only_protected_branches", sa.Boolean(), nullable=False),
        sa.Column("keep_divergent_refs", sa.Boolean(), nullable=False),
        sa.Column("update_status", sa.Text(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("last_update_at", sa.Text(), nullable=True),
        sa.Column("last_update_started_at", sa.Text(), nullable=True),
        sa.Column("last_successful_update_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_remote_mirrors_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_remote_mirrors")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_remote_mirrors_project_id"), "remote_mirrors", ["project_id"])
    op.create_table(
        "pull_mirrors",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("sealed_url", sa.LargeBinary(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("update_status", sa.Text(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("last_update_at", sa.Text(), nullable=True),
        sa.Column("last_update_started_at", sa.Text(), nullable=True),
        sa.Column("last_successful_update_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pull_mirrors_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_pull_mirrors_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_mirrors")),
        sa.UniqueConstraint("project_id", name=op.f("uq_pull_mirrors_project_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_pull_mirrors_user_id"), "pull_mirrors", ["user_id"])
