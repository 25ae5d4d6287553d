"""Add the timelines of incidents."""

import sqlalchemy as sa
from alembic import op

revision = "0134"
down_revision = "0133"
_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_REFERENCES = (
    ("issue_id", "issues", "CASCADE"),
    ("author_id", "users", "SET NULL"),
    ("updated_by_id", "users", "SET NULL"),
    ("promoted_from_note_id", "notes", "SET NULL"),
)


def upgrade() -> None:
    """Add the events and their tags."""
    op.create_table(
        "timeline_events",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        *(sa.Column(name, _IDENTIFIER, nullable=delete != "CASCADE") for name, _, delete in _REFERENCES),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("note", "tags", "occurred_at", "created_at", "updated_at")
        ),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_timeline_events_{name}"), ondelete=delete)
            for name, table, delete in _REFERENCES
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_timeline_events")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_timeline_events_issue_id", "timeline_events", ["issue_id", "occurred_at", "id"])
    for name in ("author_id", "updated_by_id", "promoted_from_note_id"):
        op.create_index(f"ix_timeline_events_{name}", "timeline_events", [name])
    op.create_table(
        "timeline_event_tags",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("project_id", _IDENTIFIER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_timeline_event_tags_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_timeline_event_tags")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_timeline_event_tags_project_id_name")),
        sqlite_autoincrement=True,
    )
