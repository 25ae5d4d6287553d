"""Add the options of projects and groups."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Add the options of projects and groups."""
    op.add_column("projects", sa.Column("options_document", sa.Text(), server_default="{}", nullable=False))
    op.add_column("namespaces", sa.Column("options_document", sa.Text(), server_default="{}", nullable=False))
