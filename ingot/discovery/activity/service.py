"""Recording what people did."""

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
    """Keep that somebody did something: to a project or its milestone, to a subject, or by a note about one."""
    kind, number = (subject.kind, subject.id) if subject else (None, None)
    target: tuple[str | None, int | None] = ("note", note_id) if note_id is not None else (kind, number)
    if milestone_id is not None:
        target = MILESTONE, milestone_id
    db.insert(
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
    """Of what is gone nothing is told."""
    db.run(_DELETE, kind=kind, target=target_id)


def clear_event_target(db: Connection, kind: str, target_id: int) -> None:
    """What happened to it is still told, but not to what any more."""
    db.run(_CLEAR_TARGET, kind=kind, target=target_id)
