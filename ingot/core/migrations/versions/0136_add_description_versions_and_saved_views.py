"""Add versions of descriptions and saved views."""

import sqlalchemy as sa
from alembic import op

revision = "0136"
down_revision = "0135"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add versions of descriptions and saved views."""
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
    op.create_table(
        "saved_views",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("list_kind", sa.Text(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_saved_views_user_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_saved_views_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_saved_views_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_views_group_id", "saved_views", ["group_id"])
    op.create_index("ix_saved_views_project_id", "saved_views", ["project_id"])
    op.create_index("ix_saved_views_user_id", "saved_views", ["user_id", "list_kind", "project_id", "group_id"])
