"""What changes notes."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import bindparam, delete, select

from ingot.collaboration.emoji.service import delete_awards
from ingot.collaboration.notes.events import NoteAdded, NoteEdited, NoteRemoved
from ingot.collaboration.notes.params import WriteNote
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.times import Timestamp
from ingot.core.events.bus import emit
from ingot.errors import Invalid, too_long_message
from ingot.git.diffs.line_positions import Side

MAX_BODY_LENGTH = 1_000_000
IN_DISCUSSION = "DiscussionNote"
MENTION = "cross_reference"
DUPLICATE = "duplicate"
_DISCUSSION_BYTES = 20
_ABOUT = (notes.c.subject_kind == bindparam("kind")) & (notes.c.subject_id == bindparam("subject"))
_IDS_ABOUT = select(notes.c.id).where(_ABOUT)
_DELETE_ABOUT = delete(notes).where(_ABOUT)
_FROM = (notes.c.source_kind == bindparam("kind")) & (notes.c.source_id == bindparam("source"))
_DELETE_FROM = delete(notes).where(_FROM, one_of(notes.c.action, MENTION, DUPLICATE))
_MENTION_OF = select(notes.c.id).where(
    notes.c.subject_kind == bindparam("of_kind"),
    notes.c.subject_id == bindparam("of_subject"),
    notes.c.action == MENTION,
)
_MENTIONED = _MENTION_OF.where(_FROM).limit(1)
# The sentence holds the whole id of a commit.
_SAID = _MENTION_OF.where(notes.c.body == bindparam("text"), notes.c.source_project_id == bindparam("project")).limit(1)


# Where in a diff a discussion is, all its notes are.
_PLACED = ("position", "original_position", "line_type", "old_path", "new_path", "old_line", "new_line")


class CommitNotePosition(msgspec.Struct, frozen=True):
    """Where in a diff a note is placed."""

    line_type: Side | None
    old_path: str
    new_path: str
    old_line: int | None = None
    new_line: int | None = None


class MentionSource(NamedTuple):
    """What mentions a subject: a row of some project, or a commit, which no row stands for."""

    kind: str
    id: int | None
    project_id: int


def validate_body(body: str) -> None:
    """Refuse what nobody could read."""
    if not body.strip():
        raise Invalid(note=["can't be blank"])
    if len(body) > MAX_BODY_LENGTH:
        raise Invalid(note=[too_long_message(MAX_BODY_LENGTH)])


def add_note(
    db: Connection,
    actor: Actor,
    subject: Subject,
    body: str,
    position: CommitNotePosition | None = None,
    *,
    discussion_id: str | None = None,
    type: str | None = None,
    internal: bool = False,
    created_at: Timestamp | None = None,
    placed: Mapping[str, object] | None = None,
) -> Note:
    """Write a note; one that answers no discussion begins its own.

    ``placed`` are the columns that say where in a diff it is, where a position of one commit does not tell it.
    """
    validate_body(body)
    placed = placed or (msgspec.structs.asdict(position) if position else {})
    at = created_at or db.now
    written = {"discussion_id": discussion_id, "type": type, "internal": internal, "created_at": at, "updated_at": at}
    note_id = _insert(db, actor.user_id, subject, body, **placed, **written)
    about = subject.kind, subject.id, subject.commit_oid
    emit(db, NoteAdded(note_id, subject.project_id, actor.user_id, *about, internal, body, subject))
    return find_note(db, note_id)


def write_note(
    db: Connection,
    actor: Actor,
    subject_access: SubjectAccess,
    params: WriteNote,
    type: str | None = None,
    placed: Mapping[str, object] | None = None,
) -> Note:
    """Write what a caller sent; who asks for it to be internal and may not is refused, lest everybody reads it."""
    internal = bool(params.confidential if params.internal is None else params.internal)
    require(subject_access.may_write_internal or not internal)
    created_at = params.created_at if subject_access.may_set_times else None
    how = {"type": type, "internal": internal, "created_at": created_at, "placed": placed}
    return add_note(db, actor, subject_access.subject, params.body, **how)  # type: ignore[arg-type] # As they are above.


def reply_to_discussion(
    db: Connection, actor: Actor, subject_access: SubjectAccess, discussion: Sequence[Note], params: WriteNote
) -> Note:
    """Answer in a discussion; a note that stood alone begins one by that."""
    first = discussion[0]
    if first.system:
        raise Invalid("Discussion can not be replied to.")
    if first.shown_type is None:
        db.update(notes, first.id, type=IN_DISCUSSION)
    on_line = first.position is not None
    return add_note(
        db,
        actor,
        subject_access.subject,
        params.body,
        discussion_id=first.discussion_id,
        type=first.type if on_line else IN_DISCUSSION,
        placed={name: getattr(first, name) for name in _PLACED} if on_line else None,
        internal=first.internal,
        created_at=params.created_at if subject_access.may_set_times else None,
    )


def edit_note(db: Connection, actor: Actor, note: Note, body: str) -> Note:
    """Let a note read differently."""
    validate_body(body)
    if body == note.body:
        return note
    db.update(notes, note.id, body=body, updated_at=db.now)
    about = note.subject_kind, note.subject_id, note.commit_oid, note.internal
    emit(db, NoteEdited(note.id, note.project_id, actor.user_id, *about))
    return find_note(db, note.id)


def resolve_notes(db: Connection, user_id: int, found: Sequence[Note], *, resolved: bool) -> list[Note]:
    """Settle what notes ask for, or take that back; gives those of which it was not so already."""
    changed = [note for note in found if note.resolvable and (note.resolved_at is not None) is not resolved]
    by = {"resolved_at": db.now, "resolved_by_id": user_id} if resolved else _UNRESOLVED
    for note in changed:
        db.update(notes, note.id, **by)
    return changed


_UNRESOLVED: dict[str, Any] = {"resolved_at": None, "resolved_by_id": None}


def delete_note(db: Connection, note: Note) -> None:
    """Take a note away, with what people said of it; what happened twice at once happened once."""
    delete_awards(db, "note", [note.id])
    if db.delete(notes, note.id) and not note.system:
        about = note.subject_kind, note.subject_id, note.commit_oid, note.internal
        emit(db, NoteRemoved(note.id, note.project_id, *about))


def add_system_note(
    db: Connection,
    author_id: int,
    subject: Subject,
    text: str,
    action: str,
    source: MentionSource | None = None,
    *,
    internal: bool = False,
) -> None:
    """Record below a subject what became of it; nobody hears of it, and it does not count as something said.

    An internal one is read by those who work on the subject.
    """
    columns: dict[str, Any] = {"internal": internal}
    if source is not None:
        columns |= {"source_kind": source.kind, "source_id": source.id, "source_project_id": source.project_id}
    _insert(db, author_id, subject, text, system=True, action=action, **columns)


def add_mention(db: Connection, author_id: int, subject: Subject, text: str, source: MentionSource) -> None:
    """Record that something elsewhere mentions a subject; once, however often it does."""
    asked = {"of_kind": subject.kind, "of_subject": subject.id}
    if source.id is None:
        known = db.value(_SAID, **asked, text=text, project=source.project_id)
    else:
        known = db.value(_MENTIONED, **asked, kind=source.kind, source=source.id)
    if known is None:
        add_system_note(db, author_id, subject, text, MENTION, source)


def delete_mentions(db: Connection, kind: str, source_id: int) -> None:
    """Forget where something mentioned others; not everybody may know of it any more."""
    db.run(_DELETE_FROM, kind=kind, source=source_id)


def delete_notes(db: Connection, subject: Subject) -> None:
    """Remove all notes about a subject that goes, and those that it left elsewhere."""
    numbers = [number for (number,) in db.rows(_IDS_ABOUT, kind=subject.kind, subject=subject.id)]
    delete_awards(db, "note", numbers)
    db.run(_DELETE_ABOUT, kind=subject.kind, subject=subject.id)
    if subject.id is not None:
        delete_mentions(db, subject.kind, subject.id)


def _insert(db: Connection, author_id: int, subject: Subject, body: str, **columns: Any) -> int:
    row = {
        "project_id": subject.project_id,
        "author_id": author_id,
        "subject_kind": subject.kind,
        "subject_id": subject.id,
        "commit_oid": subject.commit_oid,
        "body": body,
        "system": False,
        "internal": False,
        "created_at": db.now,
        "updated_at": db.now,
        **columns,
    }
    row["discussion_id"] = row.get("discussion_id") or secrets.token_hex(_DISCUSSION_BYTES)
    return db.insert(notes, **row)
