"""Finding the imports that have not ended."""

from sqlalchemy import Text, bindparam, cast, exists, literal, select

from ingot.db.connection import Connection
from ingot.db.expressions import one_of
from ingot.db.schema import Record
from ingot.jobs.tables import jobs
from ingot.projects.tables import projects

JOB_KEY = "import "
# A deleted project has no namespace; nobody waits for its import.
_OPEN = (
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
)
_BY_ID = _COLUMNS.where(projects.c.id == bindparam("project"), *_OPEN)
_BY_ID_LOCKED = _BY_ID.with_for_update()
_LOST = _COLUMNS.where(
    *_OPEN,
    ~exists().where(
        jobs.c.unique_key == literal(JOB_KEY) + cast(projects.c.id, Text), one_of(jobs.c.state, "waiting", "running")
    ),
)


class Import(Record, frozen=True):
    """What an import needs to know."""

    project_id: int
    repository_key: str
    default_branch: str
    status: str
    sealed_url: bytes


def import_or_none(db: Connection, project_id: int) -> Import | None:
    """The import of a project, as long as it has not ended and the project is there."""
    return db.first(Import, _BY_ID, project=project_id)


def locked_import_or_none(db: Connection, project_id: int) -> Import | None:
    """The same for whoever is about to change it."""
    return db.first(Import, _BY_ID_LOCKED, project=project_id)


def list_lost_imports(db: Connection) -> list[Import]:
    """Imports that wait for a job which does not exist any more."""
    return db.all(Import, _LOST)
