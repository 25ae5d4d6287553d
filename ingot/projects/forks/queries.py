"""Queries of forks whose repository still has to be copied by a job."""

from sqlalchemy import Text, bindparam, cast, exists, literal, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.schema import Record
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.tables import projects

JOB_KEY = "fork "
_SOURCES = projects.alias()
# An import has a URL or a type, a fork has neither. A deleted project has no namespace, so its copy is canceled.
_UNFINISHED = (
    one_of(projects.c.import_status, "scheduled", "started"),
    projects.c.import_url.is_(None),
    projects.c.import_type.is_(None),
    projects.c.namespace_id.is_not(None),
)
_BY_ID = (
    select(projects.c.id, _SOURCES.c.repository_key)
    .join(_SOURCES, _SOURCES.c.id == projects.c.forked_from_id, isouter=True)
    .where(projects.c.id == bindparam("project"), *_UNFINISHED)
)
_BY_ID_LOCKED = select(projects.c.id).where(projects.c.id == bindparam("project"), *_UNFINISHED).with_for_update()
_LOST = select(projects.c.id).where(
    *_UNFINISHED,
    ~exists().where(
        jobs.c.unique_key == literal(JOB_KEY) + cast(projects.c.id, Text), one_of(jobs.c.state, "waiting", "running")
    ),
)


class ForkCopy(Record, frozen=True):
    """Pending copy of a fork's repository."""

    project_id: int
    source_key: str | None


def copy_or_none(db: Connection, project_id: int) -> ForkCopy | None:
    """Return the pending copy of a fork, or None if it has ended or the project was deleted."""
    return db.first(ForkCopy, _BY_ID, project=project_id)


def locked_copy_or_none(db: Connection, project_id: int) -> int | None:
    """Lock the row of a fork whose copy is pending and return its id."""
    pending_id: int | None = db.value(_BY_ID_LOCKED, project=project_id)
    return pending_id


def lost_copies(db: Connection) -> list[int]:
    """Return the ids of forks that wait for a job that no longer exists."""
    return [project_id for (project_id,) in db.rows(_LOST)]
