"""Add the audit events of tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0115"
down_revision = "0109"


def upgrade() -> None:
    """Add the audit events of tokens."""
    op.create_table(
        "token_audit_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=False),
        sa.Column("token_name", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("entity_path", sa.Text(), nullable=True),
        sa.Column("status", sa.BigInteger(), nullable=False),
        sa.Column("ip_address", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_token_audit_events_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_audit_events")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("token_audit_events", schema=None) as batch_op:
        batch_op.create_index("ix_token_audit_events_created_at", ["created_at"], unique=False)
        batch_op.create_index("ix_token_audit_events_token_id", ["token_id", "id"], unique=False)
        batch_op.create_index("ix_token_audit_events_user_id", ["user_id", "id"], unique=False)
