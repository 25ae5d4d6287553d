"""Add protected environments."""

import sqlalchemy as sa
from alembic import op

revision = "0132"
down_revision = "0124"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add protected environments of projects and groups, and those who may deploy to them."""
    op.create_table(
        "protected_environments",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_protected_environments_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_protected_environments_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_environments")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_protected_environments_project_id_name")),
        sa.UniqueConstraint("group_id", "name", name=op.f("uq_protected_environments_group_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "deploy_access_levels",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("rule_id", _IDENTIFIER, nullable=False),
        sa.Column("access_level", sa.BigInteger(), nullable=True),
        sa.Column("user_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("group_inheritance_type", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"],
            ["protected_environments.id"],
            name=op.f("fk_deploy_access_levels_rule_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_deploy_access_levels_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_deploy_access_levels_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deploy_access_levels")),
        sqlite_autoincrement=True,
    )
    for column in ("rule_id", "user_id", "group_id"):
        op.create_index(f"ix_deploy_access_levels_{column}", "deploy_access_levels", [column])
