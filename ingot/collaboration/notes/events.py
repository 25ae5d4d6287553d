"""What is announced of notes."""

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event


class NoteAdded(Event, frozen=True):
    """Somebody wrote a note; what it is about is a row, or a commit. What the system writes is not announced."""

    note_id: int
    project_id: int | None
    author_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False
    """Whether only those who work on the subject may know of it."""
    body: str = ""
    subject: Subject | None = None
    """What it is about, for those who would look for it again."""


class NoteEdited(Event, frozen=True):
    """A note reads differently now."""

    note_id: int
    project_id: int | None
    actor_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False


class NoteRemoved(Event, frozen=True):
    """A note that somebody wrote is gone."""

    note_id: int
    project_id: int | None
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False
