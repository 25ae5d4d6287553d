"""Subscribers that record mentions in subjects and notes."""

from ingot.collaboration.notes.events import NoteAdded, NoteEdited
from ingot.collaboration.notes.queries import find_note, notes_containing
from ingot.collaboration.participants.commits import commit_subject_with_id, readers_of_commit
from ingot.collaboration.participants.events import SubjectChanged
from ingot.collaboration.participants.queries import subject_kind_or_none
from ingot.collaboration.participants.service import record_mentioned_users
from ingot.collaboration.participants.subject_kinds import Readers
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()


@subscriptions.on(SubjectChanged)
def record_mentions_in_subject(db: Connection, event: SubjectChanged) -> None:
    """Record mentions in the subject's text, and in its notes if it became visible to more users."""
    kind = subject_kind_or_none(db, event.subject.kind) if event.new_text is not None else None
    if kind is not None:
        new = event.action == "opened"
        record_mentioned_users(db, kind.readers, event.subject, event.actor_id, event.new_text or "", new=new)
    if kind is not None and event.newly_visible:
        for note in notes_containing(db, event.subject, "@"):
            record_mentioned_users(db, kind.readers, event.subject, note.author_id, note.body, note_id=note.id)


@subscriptions.on(NoteAdded)
def record_mentions_in_note(db: Connection, event: NoteAdded) -> None:
    """Record mentions in a new note."""
    if "@" in event.body:
        _record(db, event, event.author_id, event.body, new=True)


@subscriptions.on(NoteEdited)
def record_mentions_in_edited_note(db: Connection, event: NoteEdited) -> None:
    """Update the recorded mentions of an edited note."""
    _record(db, event, event.actor_id, find_note(db, event.note_id).body, new=False)


def _record(db: Connection, event: NoteAdded | NoteEdited, writer_id: int, body: str, *, new: bool) -> None:
    readers, subject = _subject_of_note(db, event)
    if readers is not None and subject is not None:
        record_mentioned_users(
            db, readers, subject, writer_id, body, note_id=event.note_id, internal=event.internal, new=new
        )


def _subject_of_note(db: Connection, event: NoteAdded | NoteEdited) -> tuple[Readers | None, Subject | None]:
    """Return the subject of a note and the function that filters users who can see it."""
    if event.commit_oid is not None and event.project_id is not None:
        return readers_of_commit, commit_subject_with_id(event.project_id, event.commit_oid)
    kind = subject_kind_or_none(db, event.subject_kind) if event.subject_id is not None else None
    if kind is None or event.subject_id is None:
        return None, None
    return kind.readers, kind.subjects(db, [event.subject_id]).get(event.subject_id)
