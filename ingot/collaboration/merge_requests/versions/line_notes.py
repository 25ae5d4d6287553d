"""Notes on lines of a version."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import bindparam, select, update

from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.tables import DiffVersion, draft_notes
from ingot.collaboration.merge_requests.versions.positions import DiffPosition
from ingot.collaboration.notes.tables import notes, suggestions
from ingot.core.db.connection import Connection

_DIFF_NOTES = select(notes.c.id, notes.c.position).where(
    notes.c.subject_kind == KIND, notes.c.subject_id == bindparam("merge_request"), notes.c.position.is_not(None)
)
_DRAFT_NOTES = select(draft_notes.c.id, draft_notes.c.position).where(
    draft_notes.c.merge_request_id == bindparam("merge_request"), draft_notes.c.position.is_not(None)
)
_OUTDATE_SUGGESTIONS = (
    update(suggestions)
    .where(suggestions.c.note_id == bindparam("note"), suggestions.c.applied.is_(False))
    .values(outdated=True)
)
DIFF_NOTE = "DiffNote"
"""Type of notes on lines."""
NoteKey = tuple[bool, int]
"""Whether it is a draft note, and its id."""
_decode = msgspec.json.Decoder(DiffPosition).decode


def position_columns(position: DiffPosition) -> dict[str, object]:
    """Return the columns of a position: the whole as JSON, and the line for queries."""
    return {
        "position": msgspec.json.encode(position).decode(),
        "line_type": None if position.old_line and position.new_line else "new" if position.new_line else "old",
        "old_path": position.old_path,
        "new_path": position.new_path,
        "old_line": position.old_line,
        "new_line": position.new_line,
    }


def note_position_columns(position: DiffPosition) -> dict[str, object]:
    """Return the columns of a new note at a position."""
    columns = position_columns(position)
    return {**columns, "original_position": columns["position"]}


def diff_notes(db: Connection, version: DiffVersion) -> dict[NoteKey, DiffPosition]:
    """Return the positions of the notes and draft notes on lines of a version; outdated ones are left out."""
    positions = {
        (draft, note_id): _decode(document)
        for draft, query in ((False, _DIFF_NOTES), (True, _DRAFT_NOTES))
        for note_id, document in db.rows(query, merge_request=version.merge_request_id)
    }
    return {key: position for key, position in positions.items() if position.head_sha == version.head_oid}


def move_diff_notes(db: Connection, moved: Mapping[NoteKey, DiffPosition | None]) -> None:
    """Update the positions of notes; a note whose line no longer exists (None) stays at its version."""
    for (draft, note_id), position in moved.items():
        if draft and position is not None:
            db.update(draft_notes, note_id, position=msgspec.json.encode(position).decode())
        elif position is not None:
            db.update(notes, note_id, **position_columns(position))
        elif not draft:
            db.run(_OUTDATE_SUGGESTIONS, note=note_id)
