"""Add the acceptance of terms of service, the admin mode of sessions and the addresses of users."""

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    """Add a column to users, one to sessions, and a table."""
    op.add_column("users", sa.Column("terms_accepted_at", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("admin_until", sa.Text(), nullable=True))
    op.create_table(
        "user_addresses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_addresses_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_addresses")),
        sa.UniqueConstraint("user_id", "network", name=op.f("uq_user_addresses_user_id_network")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_user_addresses_ends_at"), "user_addresses", ["ends_at"], unique=False)
