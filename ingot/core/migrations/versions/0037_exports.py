"""Add exports of projects and groups."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add exports."""
    op.create_table(
        "exports",
        sa.Column("id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("sealed_upload", sa.LargeBinary(), nullable=True),
        sa.Column("storage_key", sa.Text(), nullable=True),
        sa.Column("file_name", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("objects_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("batched", sa.Boolean(create_constraint=False), server_default=sa.false(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_exports_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_exports_group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_exports_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exports")),
        sa.UniqueConstraint("storage_key", name=op.f("uq_exports_storage_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_exports_expires_at"), "exports", ["expires_at"])
    op.create_index(op.f("ix_exports_user_id"), "exports", ["user_id"])
    project = ["project_id", "user_id", "relation"]
    op.create_index("uq_exports_project_id_user_id_relation", "exports", project, unique=True)
    group = ["group_id", "user_id", "relation"]
    op.create_index("uq_exports_group_id_user_id_relation", "exports", group, unique=True)
