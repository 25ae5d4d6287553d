"""Add the time at which an unverified domain of a site is removed."""

import sqlalchemy as sa
from alembic import op

revision = "0152"
down_revision = "0150"


def upgrade() -> None:
    """Add the time at which an unverified domain of a site is removed."""
    op.add_column("pages_domains", sa.Column("remove_at", sa.Text(), nullable=True))
