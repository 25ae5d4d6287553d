"""Notes on lines of a version."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.tables import DiffVersion
from ingot.collaboration.merge_requests.versions.positions import DiffPosition
from ingot.collaboration.notes.tables import notes
from ingot.core.db.connection import Connection

_DIFF_NOTES = select(notes.c.id, notes.c.position).where(
    notes.c.subject_kind == KIND, notes.c.subject_id == bindparam("merge_request"), notes.c.position.is_not(None)
)
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


def diff_notes(db: Connection, version: DiffVersion) -> dict[int, DiffPosition]:
    """Return the positions of the notes on lines of a version, by note id; outdated notes are left out."""
    rows = db.rows(_DIFF_NOTES, merge_request=version.merge_request_id)
    positions = {note_id: _decode(document) for note_id, document in rows}
    return {note_id: position for note_id, position in positions.items() if position.head_sha == version.head_oid}


def move_diff_notes(db: Connection, moved: Mapping[int, DiffPosition | None]) -> None:
    """Update the positions of notes; a note whose line no longer exists (None) stays at its version."""
    for note_id, position in moved.items():
        if position is not None:
            db.update(notes, note_id, **position_columns(position))
