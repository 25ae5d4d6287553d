"""Tables of notes on all kinds of subjects, and of the changes that they suggest."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp
from ingot.git.diffs.line_positions import Side

# The subject is a row identified by kind and id, or a commit identified by its object id.
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
    # The position in a diff, if any: a line of the old file or of the new one, or both for an unchanged line.
    text("line_type", nullable=True),
    text("old_path", nullable=True),
    text("new_path", nullable=True),
    number("old_line", nullable=True),
    number("new_line", nullable=True),
    text("created_at"),
    text("updated_at"),
    # The type if it is part of a discussion, else null.
    text("type", nullable=True),
    # The kind of change, for system notes.
    text("action", nullable=True),
    # Whether it is visible only to users who can read internal notes.
    flag("internal"),
    # The source of a cross-reference; the note is hidden from users who cannot see the source.
    text("source_kind", nullable=True),
    number("source_id", nullable=True),
    number("source_project_id", nullable=True),
    # The current and the original position in a diff, as JSON; the current one follows its line.
    text("position", nullable=True),
    text("original_position", nullable=True),
    # Set when a resolvable note was resolved.
    text("resolved_at", nullable=True),
    number("resolved_by_id", nullable=True),
    Index("ix_notes_source_kind_source_id", "source_kind", "source_id"),
    Index("ix_notes_project_id_commit_oid", "project_id", "commit_oid", "id"),
    Index("ix_notes_subject_kind_subject_id", "subject_kind", "subject_id", "id"),
    sqlite_autoincrement=True,
)

# Changes of lines that a note on a diff suggests, in the order of its text; applied ones became commits.
suggestions = Table(
    "suggestions",
    metadata,
    row_id(),
    reference("note_id", "notes.id"),
    number("relative_order"),
    # Lines above and below the line of the note that the suggestion also replaces.
    number("lines_above"),
    number("lines_below"),
    text("from_content"),
    text("to_content"),
    flag("applied"),
    text("commit_oid", nullable=True),
    # Set when a push has changed the line of the note.
    flag("outdated"),
    Index("ix_suggestions_note_id", "note_id", "relative_order"),
    sqlite_autoincrement=True,
)

# Description of an issue or merge request before a change, by the system note about the change. The text after the
# change is that of the next note, or the present description; so each text is stored once.
description_versions = Table(
    "description_versions",
    metadata,
    row_id(),
    reference("note_id", "notes.id", unique=True),
    # Null after its deletion by a maintainer.
    text("description", nullable=True),
    # Whether the issue was confidential; the text is then visible only to users who can read internal notes.
    flag("internal"),
    sqlite_autoincrement=True,
)


class Note(Record, frozen=True):
    """A comment by a user, or a system note."""

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
        """Whether the note can be resolved: those in discussions on merge requests can."""
        return self.subject_kind == "merge_request" and self.type is not None and not self.system

    @property
    def shown_type(self) -> str | None:
        """The ``type`` in API responses; None for an individual note."""
        return "DiffNote" if self.new_path is not None else self.type


class NoteSuggestion(Record, frozen=True):
    """A change of lines that a note on a diff suggests."""

    id: int
    note_id: int
    relative_order: int
    lines_above: int
    lines_below: int
    from_content: str
    to_content: str
    applied: bool
    commit_oid: str | None
    outdated: bool
