"""Add the bot users of project and group access tokens, and public deploy keys."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0028"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the bot users of project and group access tokens, and public deploy keys."""
    op.add_column("users", sa.Column("bot", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("ssh_keys", sa.Column("public", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "token_bots",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("creator_id", _IDENTIFIER, nullable=True),
        sa.Column("access_level", sa.BigInteger(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["creator_id"], ["users.id"], name=op.f("fk_token_bots_creator_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["namespaces.id"], name=op.f("fk_token_bots_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_token_bots_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_token_bots_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_bots")),
        sa.UniqueConstraint("user_id", name=op.f("uq_token_bots_user_id")),
        sqlite_autoincrement=True,
    )
    for column in ("creator_id", "group_id", "project_id"):
        op.create_index(op.f(f"ix_token_bots_{column}"), "token_bots", [column])
    op.create_index(
        "ix_token_bots_ended_at",
        "token_bots",
        ["ended_at"],
        sqlite_where=sa.text("ended_at IS NOT NULL"),
        postgresql_where=sa.text("ended_at IS NOT NULL"),
    )
