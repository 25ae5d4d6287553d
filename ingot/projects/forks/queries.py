"""Finding the forks whose repository a job still has to copy."""

from sqlalchemy import Text, bindparam, cast, exists, literal, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.schema import Record
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.tables import projects

JOB_KEY = "fork "
_SOURCES = projects.alias()
# An import has an address that it comes from. A deleted project has no namespace; nobody waits for it.
_UNFINISHED = (
    one_of(projects.c.import_status, "scheduled", "started"),
    projects.c.import_url.is_(None),
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
    """What copying needs to know."""

    project_id: int
    source_key: str | None


def copy_or_none(db: Connection, project_id: int) -> ForkCopy | None:
    """What is to be copied, as long as anybody waits for it."""
    return db.first(ForkCopy, _BY_ID, project=project_id)


def locked_copy_or_none(db: Connection, project_id: int) -> int | None:
    """Whether anybody does, for whoever is about to change it."""
    found: int | None = db.value(_BY_ID_LOCKED, project=project_id)
    return found


def lost_copies(db: Connection) -> list[int]:
    """Forks that wait for a job which does not exist any more."""
    return [project_id for (project_id,) in db.rows(_LOST)]
