"""Add the inputs of pipeline schedules."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    """Add the inputs of pipeline schedules."""
    op.add_column("pipeline_schedules", sa.Column("sealed_inputs", sa.LargeBinary(), nullable=True))
