"""Add the results of reviews."""

import sqlalchemy as sa
from alembic import op

revision = "0109"
down_revision = "0093"


def upgrade() -> None:
    """Add the results of reviews."""

    with op.batch_alter_table("merge_request_reviewers", schema=None) as batch_op:
        batch_op.add_column(sa.Column("state", sa.Text(), nullable=True))

    with op.batch_alter_table("merge_requests", schema=None) as batch_op:
        batch_op.add_column(sa.Column("change_requests", sa.BigInteger(), nullable=True))
