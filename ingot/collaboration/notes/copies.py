"""What was written about one thing as a whole: who wrote, and letting it stand below another thing."""

import secrets
from collections.abc import Callable

import msgspec
from sqlalchemy import bindparam, func, select

from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

_DISCUSSION_BYTES = 20
_ALL_ON = (
    select(notes)
    .where(notes.c.subject_kind == bindparam("kind"), notes.c.subject_id == bindparam("subject"))
    .order_by(notes.c.id)
)

_AUTHORS = (
    select(notes.c.author_id)
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
    )
    .group_by(notes.c.author_id)
    .order_by(func.min(notes.c.id))
)


def note_authors(db: Connection, subject: Subject) -> list[int]:
    """Who wrote notes for all to read, each once, in the order of their first ones."""
    return [author_id for (author_id,) in db.rows(_AUTHORS, kind=subject.kind, subject=subject.id)]


def notes_on(db: Connection, subject: Subject) -> list[Note]:
    """Everything that was written about something, also by the system itself, in its order."""
    return db.all(Note, _ALL_ON, kind=subject.kind, subject=subject.id)


def copy_notes(db: Connection, source: Subject, target: Subject, reword: Callable[[str], str]) -> None:
    """Write the notes on ``source`` again on ``target``, in the names and at the times of the first ones.

    Nobody is told: nothing new was said. Those of one discussion stay together, in one of its own.
    """
    discussions: dict[str, str] = {}
    for note in notes_on(db, source):
        if note.discussion_id not in discussions:
            discussions[note.discussion_id] = secrets.token_hex(_DISCUSSION_BYTES)
        columns = msgspec.structs.asdict(note)
        del columns["id"]
        columns |= {
            "project_id": target.project_id,
            "subject_kind": target.kind,
            "subject_id": target.id,
            "discussion_id": discussions[note.discussion_id],
            "body": reword(note.body),
        }
        db.insert(notes, **columns)
