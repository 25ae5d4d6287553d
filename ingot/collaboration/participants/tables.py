"""What is stored of who is named where."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import flag, metadata, number, reference, row_id, text

# Kept when something is written, since nobody could read ten thousand notes to say who takes part.
mentioned_people = Table(
    "mentioned_people",
    metadata,
    row_id(),
    text("subject_kind"),
    number("subject_id"),
    # Nothing where the subject's own text names them.
    reference("note_id", "notes.id", nullable=True, index=True),
    reference("user_id", "users.id", index=True),
    flag("internal"),
    Index("ix_mentioned_people_subject_kind_subject_id", "subject_kind", "subject_id", "user_id"),
    sqlite_autoincrement=True,
)
