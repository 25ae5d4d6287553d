"""Add the languages of projects by day."""

import sqlalchemy as sa
from alembic import op

revision = "0135"
down_revision = "0134"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the languages of projects by day."""
    op.create_table(
        "language_days",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("shares", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_language_days_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_language_days")),
        sa.UniqueConstraint("project_id", "day", name=op.f("uq_language_days_project_id_day")),
        sqlite_autoincrement=True,
    )
