"""Add the repository access level of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the repository access level of projects."""
    op.add_column("projects", sa.Column("repository_access_level", sa.Text(), nullable=False, server_default="enabled"))
