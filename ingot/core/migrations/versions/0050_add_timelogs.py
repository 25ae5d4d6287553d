"""Add timelogs."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add timelogs."""
    op.create_table(
        "timelogs",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("time_spent", sa.BigInteger(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("spent_at", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_timelogs_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_timelogs_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_timelogs")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_timelogs_project_id", "timelogs", ["project_id", "spent_at", "id"])
    op.create_index("ix_timelogs_subject", "timelogs", ["subject_kind", "subject_id", "id"])
    op.create_index("ix_timelogs_user_id", "timelogs", ["user_id", "spent_at", "id"])
