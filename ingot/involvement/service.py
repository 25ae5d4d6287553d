"""Keeping who is named where."""

from sqlalchemy import bindparam, delete, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.events.bus import emit
from ingot.involvement.events import PeopleMentioned
from ingot.involvement.kinds import Readers
from ingot.involvement.naming import people_named
from ingot.involvement.tables import mentioned_people
from ingot.subjects import Subject

_ABOUT = (mentioned_people.c.subject_kind == bindparam("kind")) & (
    mentioned_people.c.subject_id == bindparam("subject")
)
_BY_TEXT = select(mentioned_people.c.user_id, mentioned_people.c.id).where(_ABOUT, mentioned_people.c.note_id.is_(None))
_BY_NOTE = select(mentioned_people.c.user_id, mentioned_people.c.id).where(
    mentioned_people.c.note_id == bindparam("note")
)
_DROP = delete(mentioned_people).where(any_of(mentioned_people.c.id, "rows"))
_DROP_ALL = delete(mentioned_people).where(_ABOUT)


def record_people(
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
    """Keep whom a text names that may see what it is about, and tell of those who were not named in it before."""
    if subject.project_id is None or (new and "@" not in text):
        return
    before = {} if new else _before(db, subject, note_id)
    named = people_named(db, writer_id, subject.project_id, text)
    gone = [row for user_id, row in before.items() if user_id not in named]
    if gone:
        db.run(_DROP, rows=gone)
    fresh = [user_id for user_id in named if user_id not in before]
    seeing = readers(db, subject, fresh, internal) if fresh else ()
    fresh = [user_id for user_id in fresh if user_id in seeing]
    about = {"subject_kind": subject.kind, "subject_id": subject.id, "note_id": note_id, "internal": internal}
    for user_id in fresh:
        db.insert(mentioned_people, **about, user_id=user_id)
    if fresh:
        addressed = frozenset(user_id for user_id in fresh if named[user_id])
        emit(db, PeopleMentioned(subject, writer_id, note_id, tuple(fresh), addressed, internal, new))


def _before(db: Connection, subject: Subject, note_id: int | None) -> dict[int, int]:
    if note_id is not None:
        return dict(db.rows(_BY_NOTE, note=note_id))
    return dict(db.rows(_BY_TEXT, kind=subject.kind, subject=subject.id))


def drop_people(db: Connection, subject: Subject) -> None:
    """In what is gone nobody is named."""
    db.run(_DROP_ALL, kind=subject.kind, subject=subject.id)
