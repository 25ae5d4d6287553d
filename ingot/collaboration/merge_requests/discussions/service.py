"""Resolving of discussions of merge requests."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select, update

from ingot.collaboration.merge_requests.events import ThreadsResolved
from ingot.collaboration.merge_requests.queries import with_unresolved_discussions
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.service import add_system_note, resolve_notes
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit

_FOR_UPDATE = select(merge_requests.c.id).where(merge_requests.c.id == bindparam("merge_request")).with_for_update()
_TOUCH = (
    update(merge_requests).where(merge_requests.c.id == bindparam("merge_request")).values(updated_at=bindparam("now"))
)
_DISCUSSIONS_OF = select(notes.c.discussion_id).where(in_list(notes.c.id, "notes")).distinct()
_OPEN_IN = select(notes).where(
    notes.c.discussion_id == bindparam("discussion"),
    notes.c.subject_kind == "merge_request",
    notes.c.subject_id == bindparam("merge_request"),
)


def discussions_of_notes(db: Connection, note_ids: Sequence[int]) -> list[str]:
    """Return the ids of the discussions that contain notes, each once."""
    return [discussion_id for (discussion_id,) in db.rows(_DISCUSSIONS_OF, notes=list(note_ids))]


def resolve_discussion_notes(
    db: Connection, actor: Actor, subject: Subject, discussion: Sequence[Note], *, resolved: bool
) -> None:
    """Resolve or unresolve notes; add a system note when the last discussion is resolved."""
    if not any(note.resolvable for note in discussion):
        raise Invalid("Discussion can not be resolved")
    merge_request_id = subject.id or 0
    db.value(_FOR_UPDATE, merge_request=merge_request_id)  # Serializes transactions that resolve discussions.
    if not resolve_notes(db, actor.user_id, discussion, resolved=resolved):
        return
    db.run(_TOUCH, merge_request=merge_request_id, now=db.now)
    emit(db, ThreadsResolved(merge_request_id))
    if resolved and not with_unresolved_discussions(db, [merge_request_id]):
        add_system_note(db, actor.user_id, subject, "resolved all threads", "discussion")


def resolve_whole_discussion(db: Connection, actor: Actor, subject: Subject, discussion_id: str) -> None:
    """Resolve a discussion that a follow-up issue takes over."""
    discussion = db.all(Note, _OPEN_IN, discussion=discussion_id, merge_request=subject.id)
    if any(note.resolvable for note in discussion):
        resolve_discussion_notes(db, actor, subject, discussion, resolved=True)
