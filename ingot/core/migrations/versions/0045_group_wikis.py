"""Add wikis of groups."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add wikis of groups."""
    op.create_table(
        "group_wikis",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("group_id", _IDENTIFIER, nullable=False),
        sa.Column("repository_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_group_wikis_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_group_wikis")),
        sa.UniqueConstraint("group_id", name=op.f("uq_group_wikis_group_id")),
        sa.UniqueConstraint("repository_key", name=op.f("uq_group_wikis_repository_key")),
        sqlite_autoincrement=True,
    )
