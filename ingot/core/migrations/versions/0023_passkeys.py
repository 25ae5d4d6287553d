"""Add passkeys."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add passkeys."""
    op.create_table(
        "passkeys",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("credential", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("last_used_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_passkeys_credential_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])
