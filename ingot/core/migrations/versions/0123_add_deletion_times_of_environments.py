"""Add the times at which environments are deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0123"
down_revision = "0116"


def upgrade() -> None:
    """Add the column with its index."""
    op.add_column("environments", sa.Column("auto_delete_at", sa.Text(), nullable=True))
    op.create_index(
        "ix_environments_auto_delete_at",
        "environments",
        ["auto_delete_at"],
        sqlite_where=sa.text("auto_delete_at IS NOT NULL"),
        postgresql_where=sa.text("auto_delete_at IS NOT NULL"),
    )
