"""Add address restrictions of groups."""

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"


def upgrade() -> None:
    """Add address restrictions of groups."""
    with op.batch_alter_table("namespaces", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ip_restriction_ranges", sa.Text(), nullable=True))
        batch_op.create_index("ix_namespaces_ip_restriction_ranges", ["ip_restriction_ranges"], unique=False)
