"""Add the families of tokens that replaced each other by rotation."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    """Add the families of tokens that replaced each other by rotation."""
    # Not in a batch: SQLite would recreate the table without the triggers that record its changes.
    op.add_column("access_tokens", sa.Column("family_id", sa.BigInteger(), nullable=True))
