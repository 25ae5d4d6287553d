"""Add keys of pull mirrors over SSH."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    """Add keys of pull mirrors over SSH."""
    op.add_column("pull_mirrors", sa.Column("auth_method", sa.Text(), server_default="password", nullable=False))
    op.add_column("pull_mirrors", sa.Column("sealed_private_key", sa.LargeBinary(), nullable=True))
    op.add_column("pull_mirrors", sa.Column("public_key", sa.Text(), nullable=True))
    op.add_column("pull_mirrors", sa.Column("known_hosts", sa.Text(), nullable=True))
