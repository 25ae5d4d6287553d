"""Add chat names, and deactivate integrations that were only stored until now."""

import sqlalchemy as sa
from alembic import op

revision = "0137"
down_revision = "0136"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_STORED_ONLY = (
    "asana", "assembla", "bamboo", "buildkite", "campfire", "drone-ci", "external-wiki", "flowdock", "gemnasium",
    "hipchat", "irker", "kubernetes", "mattermost-slash-commands", "microsoft-teams", "mock-ci", "mock-deployment",
    "mock-monitoring", "pipelines-email", "pivotaltracker", "prometheus", "pushover", "slack-slash-commands",
    "teamcity",
)  # fmt: skip


def upgrade() -> None:
    """Let users link their accounts to those of a chat; nothing is sent for old settings until they are saved again."""
    op.create_table(
        "chat_names",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("service_id", _IDENTIFIER, nullable=False),
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("team_domain", sa.Text(), nullable=False),
        sa.Column("chat_id", sa.Text(), nullable=False),
        sa.Column("chat_name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("last_used_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_chat_names_user_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["services.id"], name=op.f("fk_chat_names_service_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_names")),
        sa.UniqueConstraint("service_id", "team_id", "chat_id", name=op.f("uq_chat_names_service_id_team_id_chat_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_chat_names_user_id", "chat_names", ["user_id"])
    services = sa.table("services", sa.column("slug"), sa.column("active", sa.Boolean()))
    op.execute(services.update().where(services.c.slug.in_(_STORED_ONLY)).values(active=False))
