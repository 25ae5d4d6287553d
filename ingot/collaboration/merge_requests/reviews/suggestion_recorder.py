"""Recording of the suggestions of notes, in the transaction that writes the note."""

from sqlalchemy import bindparam, delete, select

from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.reviews.file_lines import lines_at
from ingot.collaboration.merge_requests.reviews.suggestion_blocks import SuggestionBlock, suggestion_blocks
from ingot.collaboration.merge_requests.versions.positions import position_of
from ingot.collaboration.notes.events import NoteAdded, NoteEdited
from ingot.collaboration.notes.queries import SUGGESTION_MARK, find_note
from ingot.collaboration.notes.tables import Note, suggestions
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import projects

_REPOSITORY_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))
_PENDING = (suggestions.c.note_id == bindparam("note")) & suggestions.c.applied.is_(False)
_DELETE_PENDING = delete(suggestions).where(_PENDING)
_APPLIED_TEXTS = select(suggestions.c.to_content).where(
    suggestions.c.note_id == bindparam("note"), suggestions.c.applied.is_(True)
)


class SuggestionRecorder:
    """Stores the suggestions in the text of notes on lines, with the lines that they replace."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store
        self.subscriptions = Subscriptions()
        self.subscriptions.on(NoteAdded)(self.on_note_added)
        self.subscriptions.on(NoteEdited)(self.on_note_edited)

    def on_note_added(self, db: Connection, event: NoteAdded) -> None:
        """Store the suggestions of a new note."""
        if event.subject_kind == KIND and SUGGESTION_MARK in event.body:
            self._record(db, find_note(db, event.note_id))

    def on_note_edited(self, db: Connection, event: NoteEdited) -> None:
        """Replace the suggestions of a note by those of its new text; applied ones are kept."""
        if event.subject_kind == KIND:
            db.run(_DELETE_PENDING, note=event.note_id)
            self._record(db, find_note(db, event.note_id))

    def _record(self, db: Connection, note: Note) -> None:
        blocks = suggestion_blocks(note.body) if note.new_line is not None else []
        lines = self._lines(db, note) if blocks else None
        if lines is None or note.new_line is None or note.new_line > len(lines):
            return
        applied = {to_content for (to_content,) in db.rows(_APPLIED_TEXTS, note=note.id)}
        for order, block in enumerate(blocks):
            row = suggestion_columns(block, note.new_line, lines)
            if row["to_content"] not in applied:
                db.insert_row(suggestions, note_id=note.id, relative_order=order, **row, applied=False, outdated=False)

    def _lines(self, db: Connection, note: Note) -> list[str] | None:
        position = position_of(note.position)
        key = db.value(_REPOSITORY_KEY, project=note.project_id)
        if position is None or key is None:
            return None
        try:
            return lines_at(self._store.open(key), position.head_sha, position.new_path)
        except GitError as error:  # The note is more important than its suggestions.
            log_failure("lines of a suggestion not read", error)
            return None


def suggestion_columns(block: SuggestionBlock, line: int, lines: list[str]) -> dict[str, object]:
    """Return the columns of a suggestion on a line of a file, with the lines that it replaces."""
    above, below = min(block.above, line - 1), min(block.below, len(lines) - line)
    replaced = lines[line - 1 - above : line + below]
    last = replaced[-1]
    ending = last[len(last.rstrip("\r\n")) :]
    newline = "\r\n" if ending == "\r\n" else "\n"
    # An empty suggestion removes the lines.
    text = newline.join(block.text.split("\n")) + ending if block.text else ""
    return {"lines_above": above, "lines_below": below, "from_content": "".join(replaced), "to_content": text}
