"""Settling discussions about merge requests."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select, update

from ingot.collaboration.merge_requests.queries import with_unresolved_discussions
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.notes.service import add_system_note, resolve_notes
from ingot.collaboration.notes.tables import Note, notes
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import Invalid

_FOR_UPDATE = select(merge_requests.c.id).where(merge_requests.c.id == bindparam("merge_request")).with_for_update()
_TOUCH = (
    update(merge_requests).where(merge_requests.c.id == bindparam("merge_request")).values(updated_at=bindparam("now"))
)
_OPEN_IN = select(notes).where(
    notes.c.discussion_id == bindparam("discussion"),
    notes.c.subject_kind == "merge_request",
    notes.c.subject_id == bindparam("merge_request"),
)


def resolve_discussion_notes(
    db: Connection, actor: Actor, subject: Subject, found: Sequence[Note], *, resolved: bool
) -> None:
    """Settle what notes ask for, or take that back; when nothing is open any more, it is written down."""
    if not any(note.resolvable for note in found):
        raise Invalid("Discussion can not be resolved")
    number = subject.id or 0
    db.value(_FOR_UPDATE, merge_request=number)  # Of two who settle the last two discussions, the later one sees both.
    if not resolve_notes(db, actor.user_id, found, resolved=resolved):
        return
    db.run(_TOUCH, merge_request=number, now=db.now)
    if resolved and not with_unresolved_discussions(db, [number]):
        add_system_note(db, actor.user_id, subject, "resolved all threads", "discussion")


def resolve_whole_discussion(db: Connection, actor: Actor, subject: Subject, discussion_id: str) -> None:
    """The same of a whole discussion that something else takes over."""
    found = db.all(Note, _OPEN_IN, discussion=discussion_id, merge_request=subject.id)
    if any(note.resolvable for note in found):
        resolve_discussion_notes(db, actor, subject, found, resolved=True)
