"""Add the merge requests in merge trains."""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "merge_train_cars",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("merge_request_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("target_branch", sa.Text(), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("head_oid", sa.Text(), nullable=False),
        sa.Column("base_oid", sa.Text(), nullable=True),
        sa.Column("commit_oid", sa.Text(), nullable=True),
        sa.Column("squash_oid", sa.Text(), nullable=True),
        sa.Column("pipeline_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("merged_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_train_cars_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name=op.f("fk_merge_train_cars_pipeline_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_merge_train_cars_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_merge_train_cars_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_train_cars")),
        sa.UniqueConstraint("merge_request_id", name=op.f("uq_merge_train_cars_merge_request_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_merge_train_cars_pipeline_id", "merge_train_cars", ["pipeline_id"])
    op.create_index(
        "ix_merge_train_cars_project_id", "merge_train_cars", ["project_id", "target_branch", "status", "id"]
    )
    op.create_index("ix_merge_train_cars_user_id", "merge_train_cars", ["user_id"])
