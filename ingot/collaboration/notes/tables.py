"""What is stored of notes, whatever they are about."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side

# What a note is about is a row by its kind and number, or a commit by its id, which no row stands for.
notes = Table(
    "notes",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True),
    reference("author_id", "users.id", index=True),
    text("subject_kind"),
    number("subject_id", nullable=True),
    text("commit_oid", nullable=True),
    text("discussion_id", index=True),
    text("body"),
    flag("system"),
    # Where in a diff it was placed, if anywhere: a line of the file before or after, or of both where it is unchanged.
    text("line_type", nullable=True),
    text("old_path", nullable=True),
    text("new_path", nullable=True),
    number("old_line", nullable=True),
    number("new_line", nullable=True),
    text("created_at"),
    text("updated_at"),
    # What it is besides a note by itself: part of a discussion.
    text("type", nullable=True),
    # Of those that the system writes, what had happened.
    text("action", nullable=True),
    # Read only by those who work on the subject.
    flag("internal"),
    # Where the subject was mentioned, of a note that says so: who may not see that place does not see the note.
    text("source_kind", nullable=True),
    number("source_id", nullable=True),
    number("source_project_id", nullable=True),
    # Where in a diff of which commits it is, and was at first, as JSON: it moves along with its line.
    text("position", nullable=True),
    text("original_position", nullable=True),
    # Whether what it asks for is settled, of those that can be.
    text("resolved_at", nullable=True),
    number("resolved_by_id", nullable=True),
    Index("ix_notes_source_kind_source_id", "source_kind", "source_id"),
    Index("ix_notes_project_id_commit_oid", "project_id", "commit_oid", "id"),
    Index("ix_notes_subject_kind_subject_id", "subject_kind", "subject_id", "id"),
    sqlite_autoincrement=True,
)


class Note(Record, frozen=True):
    """Something that somebody wrote."""

    id: int
    project_id: int | None
    author_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    discussion_id: str
    body: str
    system: bool
    line_type: Side | None
    old_path: str | None
    new_path: str | None
    old_line: int | None
    new_line: int | None
    created_at: Timestamp
    updated_at: Timestamp
    type: str | None
    action: str | None
    internal: bool
    source_kind: str | None
    source_id: int | None
    source_project_id: int | None
    position: str | None
    original_position: str | None
    resolved_at: Timestamp | None
    resolved_by_id: int | None

    @property
    def resolvable(self) -> bool:
        """Whether what it asks for can be settled: in discussions about what is to be merged."""
        return self.subject_kind == "merge_request" and self.type is not None and not self.system

    @property
    def shown_type(self) -> str | None:
        """What clients know it as; nothing for one that stands by itself."""
        return "DiffNote" if self.new_path is not None else self.type
