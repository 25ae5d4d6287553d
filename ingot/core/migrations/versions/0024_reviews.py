"""Create the tables of reviews: draft notes, suggestions and viewed files."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of reviews."""
    op.create_table(
        "draft_notes",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("author_id", _IDENTIFIER, nullable=False),
        sa.Column("discussion_id", sa.Text(), nullable=True),
        sa.Column("resolve_discussion", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=True),
        sa.Column("commit_oid", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_draft_notes_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_draft_notes_author_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draft_notes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_draft_notes_author_id"), "draft_notes", ["author_id"])
    op.create_index("ix_draft_notes_merge_request_id", "draft_notes", ["merge_request_id", "author_id", "id"])

    op.create_table(
        "merge_request_viewed_files",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("merge_request_id", _IDENTIFIER, nullable=False),
        sa.Column("user_id", _IDENTIFIER, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("diff_digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merge_request_id"],
            ["merge_requests.id"],
            name=op.f("fk_merge_request_viewed_files_merge_request_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_merge_request_viewed_files_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merge_request_viewed_files")),
        sa.UniqueConstraint(
            "merge_request_id",
            "user_id",
            "path",
            name=op.f("uq_merge_request_viewed_files_merge_request_id_user_id_path"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_merge_request_viewed_files_user_id"), "merge_request_viewed_files", ["user_id"])

    op.create_table(
        "suggestions",
        sa.Column("id", _IDENTIFIER, autoincrement=True, nullable=False),
        sa.Column("note_id", _IDENTIFIER, nullable=False),
        sa.Column("relative_order", sa.BigInteger(), nullable=False),
        sa.Column("lines_above", sa.BigInteger(), nullable=False),
        sa.Column("lines_below", sa.BigInteger(), nullable=False),
        sa.Column("from_content", sa.Text(), nullable=False),
        sa.Column("to_content", sa.Text(), nullable=False),
        sa.Column("applied", sa.Boolean(), nullable=False),
        sa.Column("commit_oid", sa.Text(), nullable=True),
        sa.Column("outdated", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_suggestions_note_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suggestions")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_suggestions_note_id", "suggestions", ["note_id", "relative_order"])
