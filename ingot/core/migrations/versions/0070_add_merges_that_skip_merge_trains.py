"""Add merges that skip merge trains."""

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0069"


def upgrade() -> None:
    """Add merges that skip merge trains."""
    with op.batch_alter_table("merge_request_merges", schema=None) as batch_op:
        batch_op.add_column(sa.Column("train_oid", sa.Text(), nullable=True))

    with op.batch_alter_table("merge_train_cars", schema=None) as batch_op:
        batch_op.add_column(sa.Column("merged_oid", sa.Text(), nullable=True))
        batch_op.create_index("ix_merge_train_cars_merged_oid", ["merged_oid"], unique=False)
