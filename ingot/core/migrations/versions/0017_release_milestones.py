"""Add milestones of releases."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add milestones of releases."""
    op.create_table(
        "release_milestones",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("release_id", _IDENTIFIER, nullable=False),
        sa.Column("milestone_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["release_id"], ["releases.id"], name=op.f("fk_release_milestones_release_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name=op.f("fk_release_milestones_milestone_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_milestones")),
        sa.UniqueConstraint("release_id", "milestone_id", name=op.f("uq_release_milestones_release_id_milestone_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_release_milestones_milestone_id", "release_milestones", ["milestone_id"])
