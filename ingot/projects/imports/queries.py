"""Queries of imports that have not ended."""

from sqlalchemy import Text, and_, bindparam, cast, exists, literal, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.db.schema import Record
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.tables import projects

JOB_KEY = "import "
# A deleted project has no namespace; its import is canceled.
_UNFINISHED = (
    one_of(projects.c.import_status, "scheduled", "started"),
    projects.c.import_url.is_not(None),
    projects.c.namespace_id.is_not(None),
)
_COLUMNS = select(
    projects.c.id,
    projects.c.repository_key,
    projects.c.default_branch,
    projects.c.import_status,
    projects.c.import_url,
    projects.c.creator_id,
)
_BY_ID = _COLUMNS.where(projects.c.id == bindparam("project"), *_UNFINISHED)
_BY_ID_LOCKED = _BY_ID.with_for_update()
_KEY = literal(JOB_KEY) + cast(projects.c.id, Text)
_LOST = _COLUMNS.where(
    *_UNFINISHED, ~exists().where(jobs.c.unique_key == _KEY, one_of(jobs.c.state, "waiting", "running"))
)
# An import whose worker crashed is "started" without a running job; it must not block the user's other imports.
_RUNNING_BY_CREATOR = (
    select(projects.c.id)
    .join(jobs, and_(jobs.c.unique_key == _KEY, jobs.c.state == "running"))
    .where(
        projects.c.creator_id == bindparam("creator"),
        projects.c.id != bindparam("project"),
        projects.c.import_status == "started",
        projects.c.namespace_id.is_not(None),
    )
    .limit(1)
)
# Only first attempts: jobs that wait for a retry keep their delay.
_NEXT_BY_CREATOR = (
    select(jobs.c.id)
    .join(projects, jobs.c.unique_key == _KEY)
    .where(
        projects.c.creator_id == bindparam("creator"),
        projects.c.import_status == "scheduled",
        jobs.c.state == "waiting",
        jobs.c.attempts == 0,
    )
    .order_by(jobs.c.id)
    .limit(1)
)
_ATTEMPTS = select(jobs.c.attempts).where(jobs.c.unique_key == bindparam("key"), jobs.c.state == "running")


class Import(Record, frozen=True):
    """Import of a project, as the job needs it."""

    project_id: int
    repository_key: str
    default_branch: str
    status: str
    sealed_url: bytes
    creator_id: int | None


def import_or_none(db: Connection, project_id: int) -> Import | None:
    """Return the import of a project, or None if it has ended or the project was deleted."""
    return db.first(Import, _BY_ID, project=project_id)


def locked_import_or_none(db: Connection, project_id: int) -> Import | None:
    """Return the import of a project and lock its row until the end of the transaction."""
    return db.first(Import, _BY_ID_LOCKED, project=project_id)


def lost_imports(db: Connection) -> list[Import]:
    """Return the imports that wait for a job that no longer exists."""
    return db.all(Import, _LOST)


def has_running_import(db: Connection, creator_id: int, project_id: int) -> bool:
    """Check whether another import of this user is running."""
    return db.value(_RUNNING_BY_CREATOR, creator=creator_id, project=project_id) is not None


def next_waiting_job(db: Connection, creator_id: int) -> int | None:
    """Return the id of the user's import job that has waited longest."""
    job_id: int | None = db.value(_NEXT_BY_CREATOR, creator=creator_id)
    return job_id


def job_attempts(db: Connection, key: str) -> int:
    """Return the number of attempts of the running job with this key, including the current one."""
    return db.value(_ATTEMPTS, key=key) or 1
