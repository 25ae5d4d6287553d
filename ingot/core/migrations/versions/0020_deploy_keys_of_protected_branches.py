"""Name deploy keys in branch rules and in records of pushes."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Name deploy keys in branch rules and in records of pushes."""
    op.create_table(
        "protected_branch_deploy_keys",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("rule_id", _IDENTIFIER, nullable=False),
        sa.Column("key_project_id", _IDENTIFIER, nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"],
            ["protected_branches.id"],
            name=op.f("fk_protected_branch_deploy_keys_rule_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["key_project_id"],
            ["deploy_key_projects.id"],
            name=op.f("fk_protected_branch_deploy_keys_key_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protected_branch_deploy_keys")),
        sa.UniqueConstraint(
            "rule_id", "key_project_id", name=op.f("uq_protected_branch_deploy_keys_rule_id_key_project_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_protected_branch_deploy_keys_key_project_id", "protected_branch_deploy_keys", ["key_project_id"]
    )
    for table in ("ref_intents", "ref_changes"):
        op.add_column(table, sa.Column("deploy_key_id", sa.BigInteger(), nullable=True))
