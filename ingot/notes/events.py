"""What is announced of notes."""

from ingot.events.bus import Event


class NoteAdded(Event, frozen=True):
    """Somebody wrote a note; what it is about is a row, or a commit."""

    note_id: int
    project_id: int | None
    author_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
