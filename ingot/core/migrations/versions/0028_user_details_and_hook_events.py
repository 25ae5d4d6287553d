"""Add the details of users and two events of webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Add the details of users and two events of webhooks."""
    op.add_column("users", sa.Column("details_document", sa.Text(), server_default="{}", nullable=False))
    for event in ("deployment_events", "feature_flag_events"):
        op.add_column("hooks", sa.Column(event, sa.Boolean(), server_default=sa.false(), nullable=False))
