"""Add feature flags of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _project(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["project_id"], ["projects.id"], name=op.f(f"fk_{table}_project_id"), ondelete="CASCADE"
    )


def upgrade() -> None:
    """Add feature flags of projects."""
    op.create_table(
        "project_feature_flags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        _project("project_feature_flags"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_feature_flags")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_project_feature_flags_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "feature_flag_user_lists",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("iid", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("user_xids", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        _project("feature_flag_user_lists"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_flag_user_lists")),
        sa.UniqueConstraint("project_id", "iid", name=op.f("uq_feature_flag_user_lists_project_id_iid")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_feature_flag_user_lists_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "feature_flag_strategies",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("flag_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("user_list_id", _IDENTIFIER, nullable=True),
        sa.ForeignKeyConstraint(
            ["flag_id"],
            ["project_feature_flags.id"],
            name=op.f("fk_feature_flag_strategies_flag_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_list_id"],
            ["feature_flag_user_lists.id"],
            name=op.f("fk_feature_flag_strategies_user_list_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_flag_strategies")),
        sqlite_autoincrement=True,
    )
    for column in ("flag_id", "user_list_id"):
        op.create_index(op.f(f"ix_feature_flag_strategies_{column}"), "feature_flag_strategies", [column])
    op.create_table(
        "feature_flag_scopes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("strategy_id", _IDENTIFIER, nullable=False),
        sa.Column("environment_scope", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["strategy_id"],
            ["feature_flag_strategies.id"],
            name=op.f("fk_feature_flag_scopes_strategy_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_flag_scopes")),
        sa.UniqueConstraint(
            "strategy_id", "environment_scope", name=op.f("uq_feature_flag_scopes_strategy_id_environment_scope")
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "feature_flag_settings",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("client_version", sa.BigInteger(), nullable=False),
        sa.Column("last_list_iid", sa.BigInteger(), nullable=False),
        _project("feature_flag_settings"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feature_flag_settings")),
        sa.UniqueConstraint("project_id", name=op.f("uq_feature_flag_settings_project_id")),
        sqlite_autoincrement=True,
    )
