"""Add URL variables of webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add URL variables of webhooks."""
    op.add_column("hooks", sa.Column("url_variables", sa.LargeBinary(), nullable=True))
