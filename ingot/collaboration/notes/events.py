"""Events of notes."""

from ingot.collaboration.subjects import Subject
from ingot.core.events.bus import Event


class NoteAdded(Event, frozen=True):
    """A user wrote a note; not emitted for system notes."""

    note_id: int
    project_id: int | None
    author_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False
    """Whether only users who can read internal notes may learn of it."""
    body: str = ""
    subject: Subject | None = None
    """The subject of the note, so that subscribers need not query it."""


class NoteEdited(Event, frozen=True):
    """The text of a note was changed."""

    note_id: int
    project_id: int | None
    actor_id: int
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False


class NoteRemoved(Event, frozen=True):
    """A note written by a user was deleted."""

    note_id: int
    project_id: int | None
    subject_kind: str
    subject_id: int | None
    commit_oid: str | None
    internal: bool = False
