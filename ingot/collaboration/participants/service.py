"""State changes of recorded mentions."""

from sqlalchemy import bindparam, delete, select

from ingot.collaboration.participants.events import UsersMentioned
from ingot.collaboration.participants.mentions import mentioned_users
from ingot.collaboration.participants.subject_kinds import Readers
from ingot.collaboration.participants.tables import mentioned_people
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.events.bus import emit

_ABOUT = (mentioned_people.c.subject_kind == bindparam("kind")) & (
    mentioned_people.c.subject_id == bindparam("subject")
)
_BY_TEXT = select(mentioned_people.c.user_id, mentioned_people.c.id).where(_ABOUT, mentioned_people.c.note_id.is_(None))
_BY_NOTE = select(mentioned_people.c.user_id, mentioned_people.c.id).where(
    mentioned_people.c.note_id == bindparam("note")
)
_DELETE = delete(mentioned_people).where(in_list(mentioned_people.c.id, "rows"))
_DELETE_ALL = delete(mentioned_people).where(_ABOUT)


def record_mentioned_users(
    db: Connection,
    readers: Readers,
    subject: Subject,
    writer_id: int,
    text: str,
    *,
    note_id: int | None = None,
    internal: bool = False,
    new: bool = False,
) -> None:
    """Record the users mentioned in a text who can see its subject, and emit an event for new ones."""
    if subject.project_id is None or (new and "@" not in text):
        return
    before = {} if new else _mentioned_before(db, subject, note_id)
    mentioned = mentioned_users(db, writer_id, subject.project_id, text)
    obsolete = [row for user_id, row in before.items() if user_id not in mentioned]
    if obsolete:
        db.run(_DELETE, rows=obsolete)
    added = [user_id for user_id in mentioned if user_id not in before]
    allowed = readers(db, subject, added, internal) if added else ()
    added = [user_id for user_id in added if user_id in allowed]
    columns = {"subject_kind": subject.kind, "subject_id": subject.id, "note_id": note_id, "internal": internal}
    for user_id in added:
        db.insert_row(mentioned_people, **columns, user_id=user_id)
    if added:
        addressed = frozenset(user_id for user_id in added if mentioned[user_id])
        emit(db, UsersMentioned(subject, writer_id, note_id, tuple(added), addressed, internal, new))


def _mentioned_before(db: Connection, subject: Subject, note_id: int | None) -> dict[int, int]:
    if note_id is not None:
        return dict(db.rows(_BY_NOTE, note=note_id))
    return dict(db.rows(_BY_TEXT, kind=subject.kind, subject=subject.id))


def delete_mentioned_users(db: Connection, subject: Subject) -> None:
    """Delete all recorded mentions in a subject and its notes."""
    db.run(_DELETE_ALL, kind=subject.kind, subject=subject.id)
