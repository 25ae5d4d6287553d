"""Add the fetches of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the fetches of projects."""
    op.create_table(
        "daily_fetches",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_daily_fetches_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_daily_fetches")),
        sa.UniqueConstraint("project_id", "day", name=op.f("uq_daily_fetches_project_id_day")),
        sqlite_autoincrement=True,
    )
