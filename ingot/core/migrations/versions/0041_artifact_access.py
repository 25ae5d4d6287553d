"""Add the access that a configuration grants to artifacts."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Add the access that a configuration grants to artifacts."""
    op.add_column("job_artifacts", sa.Column("access", sa.Text(), nullable=True))
