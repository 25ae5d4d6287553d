"""Add types and parents of work items."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add types and parents of work items."""
    # Not in a batch: SQLite would recreate the table without the triggers that record its changes.
    op.add_column("issues", sa.Column("issue_type", sa.Text(), server_default="issue", nullable=False))
    op.create_table(
        "work_item_parents",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("issue_id", _IDENTIFIER, nullable=False),
        sa.Column("parent_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_work_item_parents_issue_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["issues.id"], name=op.f("fk_work_item_parents_parent_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_work_item_parents")),
        sa.UniqueConstraint("issue_id", name=op.f("uq_work_item_parents_issue_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_work_item_parents_parent_id", "work_item_parents", ["parent_id"])
