"""Add protected branches of groups."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add protected branches of groups."""
    op.create_table(
        "group_protected_branches",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("group_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("push_level", sa.BigInteger(), nullable=False),
        sa.Column("merge_level", sa.BigInteger(), nullable=False),
        sa.Column("allow_force_push", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_group_protected_branches_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_group_protected_branches")),
        sa.UniqueConstraint("group_id", "name", name=op.f("uq_group_protected_branches_group_id")),
        sqlite_autoincrement=True,
    )
