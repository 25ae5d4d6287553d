"""State changes of activity events."""

from sqlalchemy import bindparam, delete, update

from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.discovery.activity.tables import MILESTONE, events

_DELETE = delete(events).where(
    events.c.target_kind == bindparam("kind"),
    events.c.target_id == bindparam("target"),
)

_CLEAR_TARGET = (
    update(events)
    .where(events.c.target_kind == bindparam("kind"), events.c.target_id == bindparam("target"))
    .values(target_id=None)
)


def record_event(
    db: Connection,
    project_id: int,
    author_id: int,
    action: str,
    *,
    subject: Subject | None = None,
    note_id: int | None = None,
    milestone_id: int | None = None,
    push: str | None = None,
) -> None:
    """Record an action of a user on a project, a milestone or a subject, or a note on a subject."""
    kind, number = (subject.kind, subject.id) if subject else (None, None)
    target: tuple[str | None, int | None] = ("note", note_id) if note_id is not None else (kind, number)
    if milestone_id is not None:
        target = MILESTONE, milestone_id
    db.insert_row(
        events,
        project_id=project_id,
        author_id=author_id,
        action=action,
        target_kind=target[0],
        target_id=target[1],
        subject_kind=kind,
        subject_id=number,
        push=push,
        created_at=db.now,
    )


def delete_events(db: Connection, kind: str, target_id: int) -> None:
    """Delete the events of a deleted object."""
    db.run(_DELETE, kind=kind, target=target_id)


def clear_event_target(db: Connection, kind: str, target_id: int) -> None:
    """Clear the target of events whose object has been deleted; the events remain."""
    db.run(_CLEAR_TARGET, kind=kind, target=target_id)
