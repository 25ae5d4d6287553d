"""Add invitations of email addresses."""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add invitations of email addresses."""
    op.create_table(
        "invitations",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("source_kind", sa.Text(), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("namespace_id", _IDENTIFIER, nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("access_level", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("created_by_id", _IDENTIFIER, nullable=True),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name=op.f("fk_invitations_created_by_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespaces.id"], name=op.f("fk_invitations_namespace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitations_digest")),
        sa.UniqueConstraint(
            "source_kind", "source_id", "email", name=op.f("uq_invitations_source_kind_source_id_email")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_invitations_created_at"), "invitations", ["created_at"])
    op.create_index(op.f("ix_invitations_email"), "invitations", ["email"])
    op.create_index(op.f("ix_invitations_namespace_id"), "invitations", ["namespace_id"])
