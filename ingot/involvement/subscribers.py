"""Keeping whom people name, when they write."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.involvement.events import SubjectChanged
from ingot.involvement.queries import kind_or_none
from ingot.involvement.service import record_people
from ingot.notes.events import NoteAdded, NoteEdited
from ingot.notes.queries import find_note, naming_notes

subscriptions = Subscriptions()


@subscriptions.on(SubjectChanged)
def record_people_of_subject(db: Connection, event: SubjectChanged) -> None:
    """Whom the subject's own text names; and its notes, where people may see it now who could not."""
    kind = kind_or_none(db, event.subject.kind) if event.said is not None else None
    if kind is not None:
        new = event.action == "opened"
        record_people(db, kind, event.subject, event.actor_id, event.said or "", new=new)
    if kind is not None and event.shows:
        for note in naming_notes(db, event.subject, "@"):
            record_people(db, kind, event.subject, note.author_id, note.body, note_id=note.id)


@subscriptions.on(NoteAdded)
def record_people_of_note(db: Connection, event: NoteAdded) -> None:
    """Whom a note names."""
    if "@" in event.body:
        _record(db, event, event.author_id, event.body, new=True)


@subscriptions.on(NoteEdited)
def record_people_of_edited_note(db: Connection, event: NoteEdited) -> None:
    """Whom it names now."""
    _record(db, event, event.actor_id, find_note(db, event.note_id).body, new=False)


def _record(db: Connection, event: NoteAdded | NoteEdited, writer_id: int, body: str, *, new: bool) -> None:
    kind = kind_or_none(db, event.subject_kind) if event.subject_id is not None else None
    if kind is None or event.subject_id is None:
        return
    subject = kind.subjects(db, [event.subject_id]).get(event.subject_id)
    if subject is not None:
        record_people(db, kind, subject, writer_id, body, note_id=event.note_id, internal=event.internal, new=new)
