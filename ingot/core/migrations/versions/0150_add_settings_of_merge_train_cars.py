"""Add the settings by which the commits of merge trains are built."""

import sqlalchemy as sa
from alembic import op

revision = "0150"
down_revision = "0143"


def upgrade() -> None:
    """Add the settings by which the commits of merge trains are built."""
    with op.batch_alter_table("merge_train_cars", schema=None) as batch_op:
        batch_op.add_column(sa.Column("built_by", sa.Text(), nullable=True))
