"""Add the patch ids of versions of merge requests."""

import sqlalchemy as sa
from alembic import op

revision = "0133"
down_revision = "0132"


def upgrade() -> None:
    """Add the column."""
    op.add_column("merge_request_versions", sa.Column("patch_id", sa.Text(), nullable=True))
