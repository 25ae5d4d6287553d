"""Which kinds of subjects there are, and who takes part in one."""

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, func, select

from ingot.collaboration.notes.copies import note_authors
from ingot.collaboration.notes.queries import subjects_with_note_by
from ingot.collaboration.participants.ports import SubjectKinds
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.participants.tables import mentioned_people
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.queries import explicit_subscriptions
from ingot.core.db.connection import Connection

_MENTIONED = (
    select(mentioned_people.c.user_id)
    .where(
        mentioned_people.c.subject_kind == bindparam("kind"),
        mentioned_people.c.subject_id == bindparam("subject"),
        mentioned_people.c.internal.is_(False),
    )
    .group_by(mentioned_people.c.user_id)
    .order_by(func.min(mentioned_people.c.id))
)


def list_subject_kinds(db: Connection) -> tuple[SubjectKind, ...]:
    """Return every kind of subject."""
    return db.ports[SubjectKinds].kinds


def subject_kind_or_none(db: Connection, name: str) -> SubjectKind | None:
    """Return the kind with this name, or None."""
    return next((kind for kind in list_subject_kinds(db) if kind.kind == name), None)


def effective_subscriptions(
    db: Connection, user_id: int, kind: str, involved: Mapping[int, Collection[int]]
) -> dict[int, bool]:
    """Whether somebody follows each of these: as they said, else whether they are involved or wrote a note there."""
    told = explicit_subscriptions(db, user_id, kind, list(involved))
    written = subjects_with_note_by(db, kind, list(involved), user_id)
    return {number: told.get(number, user_id in people or number in written) for number, people in involved.items()}


def participants_of(db: Connection, kind: SubjectKind, subject: Subject) -> list[int]:
    """Who wrote a subject, has it to do or wrote notes on it, and who is named there and may see it; each once."""
    active = dict.fromkeys((subject.author_id or 0, *kind.assignees(db, subject), *note_authors(db, subject)))
    rows = db.rows(_MENTIONED, kind=subject.kind, subject=subject.id)
    named = [user_id for (user_id,) in rows if user_id not in active]
    seeing = kind.readers(db, subject, named, False) if named else ()
    return [*active, *(user_id for user_id in named if user_id in seeing)]
