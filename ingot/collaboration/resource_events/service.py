"""Recording and deletion of resource events."""

from collections.abc import Iterable

from sqlalchemy import bindparam, delete

from ingot.collaboration.resource_events.tables import resource_events
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

_DELETE = delete(resource_events).where(
    resource_events.c.subject_kind == bindparam("kind"), resource_events.c.subject_id == bindparam("subject")
)


def record_label_events(
    db: Connection, user_id: int, subject: Subject, added: Iterable[int], removed: Iterable[int]
) -> None:
    """Record added and removed labels of a subject."""
    for action, label_ids in (("add", added), ("remove", removed)):
        for label_id in label_ids:
            _record(db, user_id, subject, "label", action, label_id=label_id)


def record_milestone_events(
    db: Connection, user_id: int, subject: Subject, before: int | None, after: int | None
) -> None:
    """Record the removal of the old milestone of a subject and the addition of the new one."""
    for action, milestone_id in (("remove", before), ("add", after)):
        if milestone_id is not None:
            _record(db, user_id, subject, "milestone", action, milestone_id=milestone_id)


def record_state_event(db: Connection, user_id: int, subject: Subject, state: str) -> None:
    """Record the new state of a subject."""
    _record(db, user_id, subject, "state", state)


def delete_resource_events(db: Connection, subject: Subject) -> None:
    """Delete the resource events of a subject that is being deleted."""
    db.run(_DELETE, kind=subject.kind, subject=subject.id)


def _record(
    db: Connection,
    user_id: int,
    subject: Subject,
    kind: str,
    action: str,
    *,
    label_id: int | None = None,
    milestone_id: int | None = None,
) -> None:
    db.insert_row(
        resource_events,
        project_id=subject.project_id,
        subject_kind=subject.kind,
        subject_id=subject.id,
        kind=kind,
        user_id=user_id,
        action=action,
        label_id=label_id,
        milestone_id=milestone_id,
        created_at=db.now,
    )
