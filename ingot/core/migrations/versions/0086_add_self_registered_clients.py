"""Add OAuth clients that register themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0086"
down_revision = "0082"


def upgrade() -> None:
    """Add OAuth clients that register themselves."""
    op.add_column("oauth_applications", sa.Column("dynamic", sa.Boolean(), server_default=sa.false(), nullable=False))
