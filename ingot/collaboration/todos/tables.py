"""Table of todos."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

todos = Table(
    "todos",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    reference("author_id", "users.id", index=True),
    reference("project_id", "projects.id", index=True),
    text("subject_kind"),
    number("subject_id"),
    # The note that mentioned the user, if it was a note.
    reference("note_id", "notes.id", nullable=True, index=True),
    text("action"),
    text("state"),
    text("created_at"),
    text("updated_at"),
    Index("ix_todos_user_id_state", "user_id", "state", "id"),
    Index("ix_todos_subject_kind_subject_id", "subject_kind", "subject_id"),
    sqlite_autoincrement=True,
)
# At most one pending todo per user and subject.
Index(
    "uq_todos_pending",
    todos.c.user_id,
    todos.c.subject_kind,
    todos.c.subject_id,
    unique=True,
    **index_where("state = 'pending'"),
)


class Todo(Record, frozen=True):
    """A request to a user to look at a subject."""

    id: int
    user_id: int
    author_id: int
    project_id: int
    subject_kind: str
    subject_id: int
    note_id: int | None
    action: str
    state: str
    created_at: Timestamp
    updated_at: Timestamp
