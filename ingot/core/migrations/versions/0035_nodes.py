"""Add nodes, and record that later versions keep this one working."""

import sqlalchemy as sa
from alembic import op

from ingot.core.migrations.compatibility import record_oldest

revision = "0035"
down_revision = "0033"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add nodes, and record that later versions keep this one working."""
    record_oldest(op, revision)
    op.create_table(
        "nodes",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("clock_offset_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("last_seen_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_nodes")),
        sa.UniqueConstraint("name", "role", name=op.f("uq_nodes_name_role")),
        sqlite_autoincrement=True,
    )
