"""What changes notes."""

import secrets

import msgspec

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.events.bus import emit
from ingot.git.diff_lines import Side
from ingot.notes.events import NoteAdded
from ingot.notes.queries import find_note
from ingot.notes.tables import Note, notes

LONGEST_BODY = 1_000_000
_DISCUSSION_BYTES = 20


class Subject(msgspec.Struct, frozen=True):
    """What a note is about: a row by its kind and number, or a commit by its id."""

    project_id: int | None
    kind: str
    id: int | None = None
    commit_oid: str | None = None


class Position(msgspec.Struct, frozen=True):
    """Where in a diff a note is placed."""

    line_type: Side | None
    old_path: str
    new_path: str
    old_line: int | None = None
    new_line: int | None = None


def validate_body(body: str) -> None:
    """Refuse what nobody could read."""
    if not body.strip():
        raise Invalid(note=["can't be blank"])
    if len(body) > LONGEST_BODY:
        raise Invalid(note=[f"is too long (maximum is {LONGEST_BODY} characters)"])


def add_note(db: Connection, actor: Actor, subject: Subject, body: str, position: Position | None = None) -> Note:
    """Write a note that begins a discussion of its own."""
    validate_body(body)
    note_id = db.insert(
        notes,
        project_id=subject.project_id,
        author_id=actor.user_id,
        subject_kind=subject.kind,
        subject_id=subject.id,
        commit_oid=subject.commit_oid,
        discussion_id=secrets.token_hex(_DISCUSSION_BYTES),
        body=body,
        system=False,
        created_at=db.now,
        updated_at=db.now,
        **(msgspec.structs.asdict(position) if position else {}),
    )
    emit(db, NoteAdded(note_id, subject.project_id, actor.user_id, subject.kind, subject.id, subject.commit_oid))
    return find_note(db, note_id)
