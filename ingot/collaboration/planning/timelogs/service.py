"""State changes of timelogs; the total of the subject changes with them in ``time_tracking``."""

from sqlalchemy import bindparam, delete, insert, select

from ingot.collaboration.planning.timelogs.tables import timelogs
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid

MAX_SUMMARY_LENGTH = 255
_OF_SUBJECT = (timelogs.c.subject_kind == bindparam("kind")) & (timelogs.c.subject_id == bindparam("subject"))
_DELETE = delete(timelogs).where(_OF_SUBJECT)
_DELETE_ONE = delete(timelogs).where(timelogs.c.id == bindparam("timelog"))
_COPIED = ("user_id", "time_spent", "summary", "spent_at", "created_at")
_COPY = insert(timelogs).from_select(
    ["project_id", "subject_kind", "subject_id", *_COPIED],
    select(
        bindparam("to_project", type_=timelogs.c.project_id.type),
        timelogs.c.subject_kind,
        bindparam("to_subject", type_=timelogs.c.subject_id.type),
        *(timelogs.c[name] for name in _COPIED),
    )
    .where(_OF_SUBJECT)
    .order_by(timelogs.c.id),
)


def add_timelog(
    db: Connection, user_id: int, subject: Subject, seconds: int, summary: str | None, spent_at: Timestamp | None
) -> None:
    """Add an entry, by default for this moment."""
    if summary is not None and len(summary) > MAX_SUMMARY_LENGTH:
        raise Invalid(summary=[f"is too long (maximum is {MAX_SUMMARY_LENGTH} characters)"])
    db.insert_row(
        timelogs,
        project_id=subject.project_id,
        subject_kind=subject.kind,
        subject_id=subject.id,
        user_id=user_id,
        time_spent=seconds,
        summary=summary,
        spent_at=spent_at or db.now,
        created_at=db.now,
    )


def delete_timelog(db: Connection, timelog_id: int) -> bool:
    """Delete an entry; return whether it existed."""
    return db.run_counted(_DELETE_ONE, timelog=timelog_id) > 0


def delete_timelogs(db: Connection, subject: Subject) -> None:
    """Delete all entries of a subject."""
    db.run(_DELETE, kind=subject.kind, subject=subject.id)


def copy_timelogs(db: Connection, original: Subject, copy: Subject) -> None:
    """Copy the entries of a moved subject."""
    db.run(_COPY, kind=original.kind, subject=original.id, to_project=copy.project_id, to_subject=copy.id)
