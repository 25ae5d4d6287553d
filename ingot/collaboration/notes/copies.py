"""Copies of all notes on one subject below another one."""

import secrets
from collections.abc import Callable

import msgspec
from sqlalchemy import bindparam, select

from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

_DISCUSSION_BYTES = 20
_ALL_ON = (
    select(notes)
    .where(notes.c.subject_kind == bindparam("kind"), notes.c.subject_id == bindparam("subject"))
    .order_by(notes.c.id)
)


def notes_on(db: Connection, subject: Subject) -> list[Note]:
    """List all notes on a subject, including system notes, oldest first."""
    return db.all(Note, _ALL_ON, kind=subject.kind, subject=subject.id)


def copy_notes(db: Connection, source: Subject, target: Subject, reword: Callable[[str], str]) -> None:
    """Copy the notes on ``source`` to ``target`` with the original authors and times.

    No events are emitted, because nothing new was written. Each discussion is copied to a new one.
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
        db.insert_row(notes, **columns)
