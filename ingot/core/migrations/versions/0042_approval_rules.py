"""Add approval rules."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add approval rules."""
    op.create_table(
        "approval_rules",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rule_type", sa.Text(), nullable=False),
        sa.Column("approvals_required", sa.BigInteger(), nullable=False),
        sa.Column("user_ids", sa.Text(), nullable=False),
        sa.Column("group_ids", sa.Text(), nullable=False),
        sa.Column("protected_branch_ids", sa.Text(), nullable=False),
        sa.Column("applies_to_all_protected_branches", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_approval_rules_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_approval_rules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approval_rules")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_approval_rules_merge_request_id", "approval_rules", ["merge_request_id", "name"], unique=True)
    op.create_index("ix_approval_rules_project_id", "approval_rules", ["project_id"])
    op.create_index(
        "uq_approval_rules_project_name",
        "approval_rules",
        ["project_id", "name"],
        unique=True,
        sqlite_where=sa.text("merge_request_id IS NULL"),
        postgresql_where=sa.text("merge_request_id IS NULL"),
    )
