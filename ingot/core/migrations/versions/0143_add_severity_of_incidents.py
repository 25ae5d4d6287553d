"""Add the severity of incidents, and the kind of events of their timelines."""

import sqlalchemy as sa
from alembic import op

revision = "0143"
down_revision = "0142"


def upgrade() -> None:
    """Existing incidents have an unknown severity; all events so far were written by users."""
    op.add_column("issues", sa.Column("severity", sa.Text(), server_default="unknown", nullable=False))
    op.add_column("timeline_events", sa.Column("action", sa.Text(), server_default="comment", nullable=False))
