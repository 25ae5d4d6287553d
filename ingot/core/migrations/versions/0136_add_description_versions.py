"""Add versions of descriptions."""

import sqlalchemy as sa
from alembic import op

revision = "0136"
down_revision = "0135"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add versions of descriptions."""
    op.create_table(
        "description_versions",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("note_id", _IDENTIFIER, nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("internal", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_description_versions_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_description_versions")),
        sa.UniqueConstraint("note_id", name=op.f("uq_description_versions_note_id")),
        sqlite_autoincrement=True,
    )
