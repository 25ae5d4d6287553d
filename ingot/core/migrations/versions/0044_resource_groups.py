"""Add resource groups of jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add resource groups of jobs."""
    op.create_table(
        "resource_groups",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("process_mode", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_resource_groups_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_groups")),
        sa.UniqueConstraint("project_id", "key", name=op.f("uq_resource_groups_project_id")),
        sqlite_autoincrement=True,
    )
