"""Queries of subject kinds, effective subscriptions and participants."""

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, exists, func, literal, select, union_all

from ingot.collaboration.notes.queries import subjects_with_note_by
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.participants.ports import SubjectKinds
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.participants.tables import mentioned_people
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.queries import explicit_subscriptions
from ingot.collaboration.subscriptions.tables import follows
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import without_index

_MENTIONED = (
    select(literal(True).label("mentioned"), mentioned_people.c.user_id, func.min(mentioned_people.c.id).label("first"))
    .where(
        mentioned_people.c.subject_kind == bindparam("kind"),
        mentioned_people.c.subject_id == bindparam("subject"),
        mentioned_people.c.internal.is_(False),
    )
    .group_by(mentioned_people.c.user_id)
)
_WRITERS = (
    select(literal(False), notes.c.author_id, func.min(notes.c.id))
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        notes.c.system.is_(False),
        notes.c.internal.is_(False),
    )
    .group_by(notes.c.author_id)
)
# Without the index on authors, which SQLite would prefer: some authors have a million notes, few subjects a hundred.
_SUBSCRIPTION = select(
    select(follows.c.following)
    .where(
        follows.c.user_id == bindparam("user"),
        follows.c.subject_kind == bindparam("kind"),
        follows.c.subject_id == bindparam("subject"),
    )
    .scalar_subquery()
    .label("chosen"),
    exists()
    .where(
        notes.c.subject_kind == bindparam("kind"),
        notes.c.subject_id == bindparam("subject"),
        without_index(notes.c.author_id) == bindparam("user"),
        notes.c.system.is_(False),
    )
    .label("wrote"),
)
_WRITERS_AND_MENTIONED = union_all(_MENTIONED, _WRITERS).order_by("mentioned", "first")


def list_subject_kinds(db: Connection) -> tuple[SubjectKind, ...]:
    """Return every kind of subject."""
    return db.ports[SubjectKinds].kinds


def subject_kind_or_none(db: Connection, name: str) -> SubjectKind | None:
    """Return the kind with this name, or None."""
    return next((kind for kind in list_subject_kinds(db) if kind.kind == name), None)


def is_subscribed(db: Connection, user_id: int, kind: str, subject_id: int, involved: Collection[int]) -> bool:
    """Return whether a user is subscribed: as they chose, else whether they are involved or wrote a note there."""
    if not user_id:
        return False
    chosen, wrote = db.rows(_SUBSCRIPTION, user=user_id, kind=kind, subject=subject_id)[0]
    return bool(user_id in involved or wrote) if chosen is None else chosen


def effective_subscriptions(
    db: Connection, user_id: int, kind: str, involved: Mapping[int, Collection[int]]
) -> dict[int, bool]:
    """Map subject ids to whether a user is subscribed.

    An explicit choice wins; otherwise users in ``involved`` and authors of notes are subscribed.
    """
    explicit = explicit_subscriptions(db, user_id, kind, list(involved))
    with_note = subjects_with_note_by(db, kind, list(involved), user_id)
    return {
        subject_id: explicit.get(subject_id, user_id in user_ids or subject_id in with_note)
        for subject_id, user_ids in involved.items()
    }


def participants_of(db: Connection, kind: SubjectKind, subject: Subject) -> list[int]:
    """List the author, the assignees and the authors of notes, then the mentioned users who can see it."""
    rows = db.rows(_WRITERS_AND_MENTIONED, kind=subject.kind, subject=subject.id)
    writers = [user_id for mentioned, user_id, _ in rows if not mentioned]
    active = dict.fromkeys((subject.author_id or 0, *kind.assignees(db, subject), *writers))
    mentioned_ids = [user_id for mentioned, user_id, _ in rows if mentioned and user_id not in active]
    readers = kind.readers(db, subject, mentioned_ids, False) if mentioned_ids else ()
    return [*active, *(user_id for user_id in mentioned_ids if user_id in readers)]
