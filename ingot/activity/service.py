"""State changes of activity events."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, update

from ingot.activity.tables import MILESTONE, events
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list

_DELETE = delete(events).where(
    events.c.target_kind == bindparam("kind"),
    in_list(events.c.target_id, "targets"),
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


def delete_events(db: Connection, kind: str, target_ids: Sequence[int]) -> None:
    """Delete the events of deleted objects."""
    if target_ids:
        db.run(_DELETE, kind=kind, targets=list(target_ids))


def clear_event_target(db: Connection, kind: str, target_id: int) -> None:
    """Clear the target of events whose object has been deleted; the events remain."""
    db.run(_CLEAR_TARGET, kind=kind, target=target_id)
