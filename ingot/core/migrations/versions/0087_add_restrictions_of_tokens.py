"""Add restrictions of tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0087"
down_revision = "0086"


def upgrade() -> None:
    """Add restrictions of tokens."""
    op.add_column("access_tokens", sa.Column("restrictions", sa.Text(), nullable=True))
