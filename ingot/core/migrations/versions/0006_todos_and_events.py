"""Add todos, events, mentions and notification settings."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    """Add todos, events, mentions and notification settings."""
    op.create_table(
        "mentioned_people",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("note_id", _IDENTIFIER, nullable=True),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("internal", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_mentioned_people_note_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_mentioned_people_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mentioned_people")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_mentioned_people_note_id"), "mentioned_people", ["note_id"])
    op.create_index(op.f("ix_mentioned_people_user_id"), "mentioned_people", ["user_id"])
    op.create_index(
        "ix_mentioned_people_subject_kind_subject_id", "mentioned_people", ["subject_kind", "subject_id", "user_id"]
    )
    op.create_table(
        "todos",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("note_id", _IDENTIFIER, nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_todos_author_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_todos_note_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_todos_project_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_todos_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_todos")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_todos_author_id"), "todos", ["author_id"])
    op.create_index(op.f("ix_todos_note_id"), "todos", ["note_id"])
    op.create_index(op.f("ix_todos_project_id"), "todos", ["project_id"])
    op.create_index("ix_todos_user_id_state", "todos", ["user_id", "state", "id"])
    op.create_index("ix_todos_subject_kind_subject_id", "todos", ["subject_kind", "subject_id"])
    op.create_index(
        "uq_todos_pending",
        "todos",
        ["user_id", "subject_kind", "subject_id"],
        unique=True,
        sqlite_where=_PENDING,
        postgresql_where=_PENDING,
    )
    op.create_table(
        "events",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target_kind", sa.Text(), nullable=True),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("subject_kind", sa.Text(), nullable=True),
        sa.Column("subject_id", sa.BigInteger(), nullable=True),
        sa.Column("push", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_events_author_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_events_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_project_id", "events", ["project_id", "id"])
    op.create_index("ix_events_author_id", "events", ["author_id", "id"])
    op.create_index("ix_events_target_kind_target_id", "events", ["target_kind", "target_id"])
    op.create_table(
        "notification_settings",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("source_kind", sa.Text(), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("level", sa.BigInteger(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notification_settings_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_settings")),
        sa.UniqueConstraint(
            "user_id",
            "source_kind",
            "source_id",
            name=op.f("uq_notification_settings_user_id_source_kind_source_id"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_notification_settings_source_kind_source_id",
        "notification_settings",
        ["source_kind", "source_id", "level"],
    )
