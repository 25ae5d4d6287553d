"""Table of mentions."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import flag, metadata, number, reference, row_id, text

# Recorded on writing, because listing participants must not parse thousands of notes.
mentioned_people = Table(
    "mentioned_people",
    metadata,
    row_id(),
    text("subject_kind"),
    number("subject_id"),
    # Null for a mention in the subject's own text.
    reference("note_id", "notes.id", nullable=True, index=True),
    reference("user_id", "users.id", index=True),
    flag("internal"),
    Index("ix_mentioned_people_subject_kind_subject_id", "subject_kind", "subject_id", "user_id"),
    sqlite_autoincrement=True,
)
