"""State changes of notes and discussions, and the recording of system notes."""

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
from ingot.collaboration.subjects import Subject, SubjectAccess, subject_topic
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.git.diffs.line_positions import Side

MAX_BODY_LENGTH = 1_000_000
IN_DISCUSSION = "DiscussionNote"
MENTION = "cross_reference"
DUPLICATE = "duplicate"
_DISCUSSION_BYTES = 20
_ABOUT = (notes.c.subject_kind == bindparam("kind")) & (notes.c.subject_id == bindparam("subject"))
_IDS_ABOUT = select(notes.c.id).where(_ABOUT)
_DELETE_ABOUT = delete(notes).where(_ABOUT)
_FROM_SOURCE = (notes.c.source_kind == bindparam("kind")) & (notes.c.source_id == bindparam("source"))
_DELETE_FROM_SOURCE = delete(notes).where(_FROM_SOURCE, one_of(notes.c.action, MENTION, DUPLICATE))
_MENTION_OF = select(notes.c.id).where(
    notes.c.subject_kind == bindparam("of_kind"),
    notes.c.subject_id == bindparam("of_subject"),
    notes.c.action == MENTION,
)
_MENTIONED_BY_SOURCE = _MENTION_OF.where(_FROM_SOURCE).limit(1)
# Mentions by commits have no source id; the text of the system note identifies the commit.
_MENTIONED_BY_TEXT = _MENTION_OF.where(
    notes.c.body == bindparam("text"), notes.c.source_project_id == bindparam("project")
).limit(1)


# Columns with the diff position, copied from the first note of a discussion to its replies.
_POSITION_COLUMNS = ("position", "original_position", "line_type", "old_path", "new_path", "old_line", "new_line")


class CommitNotePosition(msgspec.Struct, frozen=True):
    """The position of a note in the diff of a commit."""

    line_type: Side | None
    old_path: str
    new_path: str
    old_line: int | None = None
    new_line: int | None = None


class MentionSource(NamedTuple):
    """The source of a cross-reference: a row of a project, or a commit, which has no row."""

    kind: str
    id: int | None
    project_id: int


def validate_body(body: str) -> None:
    """Raise Invalid if the text is blank or too long."""
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
    """Write a note; without ``discussion_id`` it starts a new discussion.

    ``placed`` holds the position columns of a note on a merge request diff and replaces ``position``.
    """
    validate_body(body)
    placed = placed or (msgspec.structs.asdict(position) if position else {})
    timestamp = created_at or db.now
    columns = {
        "discussion_id": discussion_id,
        "type": type,
        "internal": internal,
        "created_at": timestamp,
        "updated_at": timestamp,
    }
    note_id = _insert(db, actor.user_id, subject, body, **placed, **columns)
    subject_columns = subject.kind, subject.id, subject.commit_oid
    emit(db, NoteAdded(note_id, subject.project_id, actor.user_id, *subject_columns, internal, body, subject))
    return find_note(db, note_id)


def write_note(
    db: Connection,
    actor: Actor,
    subject_access: SubjectAccess,
    params: WriteNote,
    type: str | None = None,
    placed: Mapping[str, object] | None = None,
) -> Note:
    """Write a note from request parameters.

    Raises Denied if an internal note is requested without permission, because otherwise it would become public.
    """
    internal = bool(params.confidential if params.internal is None else params.internal)
    require(subject_access.may_write_internal or not internal)
    created_at = params.created_at if subject_access.may_set_times else None
    options = {"type": type, "internal": internal, "created_at": created_at, "placed": placed}
    return add_note(db, actor, subject_access.subject, params.body, **options)  # type: ignore[arg-type] # A dict of mixed value types.


def reply_to_discussion(
    db: Connection, actor: Actor, subject_access: SubjectAccess, discussion: Sequence[Note], params: WriteNote
) -> Note:
    """Add a note to a discussion; a reply turns an individual note into a discussion."""
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
        placed={name: getattr(first, name) for name in _POSITION_COLUMNS} if on_line else None,
        internal=first.internal,
        created_at=params.created_at if subject_access.may_set_times else None,
    )


def edit_note(db: Connection, actor: Actor, note: Note, body: str) -> Note:
    """Change the text of a note."""
    validate_body(body)
    if body == note.body:
        return note
    db.update(notes, note.id, body=body, updated_at=db.now)
    subject_columns = note.subject_kind, note.subject_id, note.commit_oid, note.internal
    emit(db, NoteEdited(note.id, note.project_id, actor.user_id, *subject_columns))
    return find_note(db, note.id)


def resolve_notes(db: Connection, user_id: int, discussion: Sequence[Note], *, resolved: bool) -> list[Note]:
    """Resolve or unresolve notes and return those whose state changed."""
    changed = [note for note in discussion if note.resolvable and (note.resolved_at is not None) is not resolved]
    columns = {"resolved_at": db.now, "resolved_by_id": user_id} if resolved else _UNRESOLVED
    for note in changed:
        db.update(notes, note.id, **columns)
    announce(db, *(subject_topic(note.subject_kind, note.subject_id) for note in changed))
    return changed


_UNRESOLVED: dict[str, Any] = {"resolved_at": None, "resolved_by_id": None}


def delete_note(db: Connection, note: Note) -> None:
    """Delete a note with its award emoji; a concurrent second deletion changes nothing."""
    delete_awards(db, "note", [note.id])
    if db.delete_counted(notes, note.id) and not note.system:
        subject_columns = note.subject_kind, note.subject_id, note.commit_oid, note.internal
        emit(db, NoteRemoved(note.id, note.project_id, *subject_columns))


def add_system_note(
    db: Connection,
    author_id: int,
    subject: Subject,
    text: str,
    action: str,
    source: MentionSource | None = None,
    *,
    internal: bool = False,
) -> int:
    """Record a change of a subject as a system note, without an event; return its id.

    An internal one is visible only to users who can read internal notes.
    """
    columns: dict[str, Any] = {"internal": internal}
    if source is not None:
        columns |= {"source_kind": source.kind, "source_id": source.id, "source_project_id": source.project_id}
    return _insert(db, author_id, subject, text, system=True, action=action, **columns)


def add_mention(db: Connection, author_id: int, subject: Subject, text: str, source: MentionSource) -> None:
    """Record a cross-reference to a subject as a system note, once per source."""
    mentioned_subject = {"of_kind": subject.kind, "of_subject": subject.id}
    if source.id is None:
        existing = db.value(_MENTIONED_BY_TEXT, **mentioned_subject, text=text, project=source.project_id)
    else:
        existing = db.value(_MENTIONED_BY_SOURCE, **mentioned_subject, kind=source.kind, source=source.id)
    if existing is None:
        add_system_note(db, author_id, subject, text, MENTION, source)


def delete_mentions(db: Connection, kind: str, source_id: int) -> None:
    """Delete the cross-references from a source, for example when it becomes confidential."""
    db.run(_DELETE_FROM_SOURCE, kind=kind, source=source_id)


def delete_notes(db: Connection, subject: Subject) -> list[int]:
    """Delete all notes on a subject that is being deleted, and its cross-references on other subjects; return ids."""
    note_ids = [note_id for (note_id,) in db.rows(_IDS_ABOUT, kind=subject.kind, subject=subject.id)]
    delete_awards(db, "note", note_ids)
    db.run(_DELETE_ABOUT, kind=subject.kind, subject=subject.id)
    if subject.id is not None:
        delete_mentions(db, subject.kind, subject.id)
    return note_ids


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
    announce(db, subject_topic(subject.kind, subject.id))
    return db.insert(notes, **row)
