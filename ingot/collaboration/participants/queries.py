"""Queries of subject kinds, effective subscriptions and participants."""

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
    active = dict.fromkeys((subject.author_id or 0, *kind.assignees(db, subject), *note_authors(db, subject)))
    rows = db.rows(_MENTIONED, kind=subject.kind, subject=subject.id)
    mentioned = [user_id for (user_id,) in rows if user_id not in active]
    readers = kind.readers(db, subject, mentioned, False) if mentioned else ()
    return [*active, *(user_id for user_id in mentioned if user_id in readers)]
