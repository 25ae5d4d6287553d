"""Add merge requests that wait for the removal of rewritten commits."""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0074"


def upgrade() -> None:
    """Add merge requests that wait for the removal of rewritten commits."""
    op.create_table(
        "merge_request_restacks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("merge_request_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lower_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("actor_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("rebased_oid", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["users.id"], name=op.f("fk_merge_request_restacks_actor_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["lower_id"], ["merge_requests.id"], name=op.f("fk_merge_request_restacks_lower_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_restacks_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_restacks")),
        sa.UniqueConstraint("merge_request_id", name=op.f("uq_merge_request_restacks_merge_request_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_request_restacks_actor_id", "merge_request_restacks", ["actor_id"])
    op.create_index("ix_merge_request_restacks_lower_id", "merge_request_restacks", ["lower_id"])
