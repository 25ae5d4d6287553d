"""Add webhooks and their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_WAITING = sa.text("state = 'waiting'")
_SYSTEM = sa.text("kind = 'system'")


def upgrade() -> None:
    """Add webhooks and their deliveries."""
    op.create_table(
        "hook_events",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("unfinished", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hook_events")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hook_events_created_at", "hook_events", ["created_at"])

    op.create_table(
        "hooks",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=True),
        sa.Column("group_id", _IDENTIFIER, nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("credentials", sa.LargeBinary(), nullable=True),
        sa.Column("token", sa.LargeBinary(), nullable=True),
        sa.Column("signing_token", sa.LargeBinary(), nullable=True),
        sa.Column("custom_headers", sa.LargeBinary(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("enable_ssl_verification", sa.Boolean(), nullable=False),
        sa.Column("push_events_branch_filter", sa.Text(), nullable=True),
        sa.Column("branch_filter_strategy", sa.Text(), nullable=False),
        sa.Column("push_events", sa.Boolean(), nullable=False),
        sa.Column("tag_push_events", sa.Boolean(), nullable=False),
        sa.Column("issues_events", sa.Boolean(), nullable=False),
        sa.Column("confidential_issues_events", sa.Boolean(), nullable=False),
        sa.Column("merge_requests_events", sa.Boolean(), nullable=False),
        sa.Column("note_events", sa.Boolean(), nullable=False),
        sa.Column("confidential_note_events", sa.Boolean(), nullable=False),
        sa.Column("job_events", sa.Boolean(), nullable=False),
        sa.Column("pipeline_events", sa.Boolean(), nullable=False),
        sa.Column("wiki_page_events", sa.Boolean(), nullable=False),
        sa.Column("releases_events", sa.Boolean(), nullable=False),
        sa.Column("repository_update_events", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("disabled_until", sa.Text(), nullable=True),
        sa.Column("lease", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["namespaces.id"], name=op.f("fk_hooks_group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_hooks_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hooks")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hooks_group_id", "hooks", ["group_id"])
    op.create_index("ix_hooks_project_id", "hooks", ["project_id"])
    op.create_index("ix_hooks_system", "hooks", ["kind"], sqlite_where=_SYSTEM, postgresql_where=_SYSTEM)

    op.create_table(
        "hook_deliveries",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("event_id", _IDENTIFIER, nullable=False),
        sa.Column("hook_id", _IDENTIFIER, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.Text(), nullable=False),
        sa.Column("placed_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event_id"], ["hook_events.id"], name=op.f("fk_hook_deliveries_event_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["hook_id"], ["hooks.id"], name=op.f("fk_hook_deliveries_hook_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hook_deliveries")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hook_deliveries_event_id", "hook_deliveries", ["event_id"])
    op.create_index("ix_hook_deliveries_hook_id", "hook_deliveries", ["hook_id", "id"])
    for name, columns in (("due", ["hook_id", "due_at"]), ("tried", ["hook_id", "attempts", "id"])):
        op.create_index(
            f"ix_hook_deliveries_waiting_{name}",
            "hook_deliveries",
            columns,
            sqlite_where=_WAITING,
            postgresql_where=_WAITING,
        )

    op.create_table(
        "hook_attempts",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("delivery_id", _IDENTIFIER, nullable=False),
        sa.Column("hook_id", _IDENTIFIER, nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("request_headers", sa.Text(), nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=True),
        sa.Column("response_headers", sa.Text(), nullable=False),
        sa.Column("response_body", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["hook_deliveries.id"], name=op.f("fk_hook_attempts_delivery_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["hook_id"], ["hooks.id"], name=op.f("fk_hook_attempts_hook_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hook_attempts")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hook_attempts_delivery_id", "hook_attempts", ["delivery_id"])
    op.create_index("ix_hook_attempts_hook_id", "hook_attempts", ["hook_id", "id"])
