"""Add secure files."""

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"


def upgrade() -> None:
    """Add secure files."""
    op.create_table(
        "secure_files",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("storage_key", sa.Text(), nullable=False),
        sa.Column("stored_size", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_secure_files_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_secure_files")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_secure_files_project_id_name")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_secure_files_storage_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("secure_files", schema=None) as batch_op:
        batch_op.create_index("ix_secure_files_project_id", ["project_id", "id"], unique=False)
