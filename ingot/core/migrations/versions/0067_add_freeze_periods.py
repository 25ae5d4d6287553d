"""Add freeze periods."""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"


def upgrade() -> None:
    """Add freeze periods."""
    op.create_table(
        "freeze_periods",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("freeze_start", sa.Text(), nullable=False),
        sa.Column("freeze_end", sa.Text(), nullable=False),
        sa.Column("cron_timezone", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_freeze_periods_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_freeze_periods")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("freeze_periods", schema=None) as batch_op:
        batch_op.create_index("ix_freeze_periods_project_id", ["project_id", "id"], unique=False)
