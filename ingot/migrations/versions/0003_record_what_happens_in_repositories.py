"""Record what happens in repositories."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Record what happens in repositories."""
    op.add_column("projects", sa.Column("generation", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "protected_branches",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("push_level", sa.BigInteger(), nullable=False),
        sa.Column("merge_level", sa.BigInteger(), nullable=False),
        sa.Column("allow_force_push", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_protected_branches_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_branches")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_protected_branches_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "protected_tags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("create_level", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_protected_tags_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_tags")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_protected_tags_project_id_name")),
        sqlite_autoincrement=True,
    )
    # The default branch of what was there before is protected as that of a new project is.
    op.execute(
        "INSERT INTO protected_branches (project_id, name, push_level, merge_level, allow_force_push, created_at) "
        "SELECT id, default_branch, 40, 40, false, created_at FROM projects WHERE namespace_id IS NOT NULL"
    )
    op.create_table(
        "ref_intents",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("actor_id", _IDENTIFIER, nullable=True),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("updates", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ref_intents_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_ref_intents_actor_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ref_intents")),
        sa.UniqueConstraint("key", name=op.f("uq_ref_intents_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_ref_intents_project_id"), "ref_intents", ["project_id"])
    op.create_table(
        "ref_changes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("actor_id", _IDENTIFIER, nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("old", sa.Text(), nullable=False),
        sa.Column("new", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_ref_changes_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name=op.f("fk_ref_changes_actor_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ref_changes")),
        sa.UniqueConstraint("key", "ref", name=op.f("uq_ref_changes_key_ref")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ref_changes_project_id", "ref_changes", ["project_id", "id"])
    op.create_index(op.f("ix_ref_changes_actor_id"), "ref_changes", ["actor_id"])
