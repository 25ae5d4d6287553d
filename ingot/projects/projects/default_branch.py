"""HEAD and the row that says where it is to point: how the two agree again after a crash.

HEAD is what git serves, so it is the truth; the row holds a copy for lists. A change is committed in the row
together with a job, HEAD follows at once, and the job sees to it where a crash came between.
"""

from sqlalchemy import bindparam, select, update

from ingot.core.db.connection import Connection
from ingot.git.core.errors import MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.head import point_head_to as settle_head_of
from ingot.projects.projects.tables import projects

RECONCILE_HEAD = "settle HEAD"
_INTENDED_HEAD = select(projects.c.default_branch, projects.c.import_status, projects.c.repository_key).where(
    projects.c.id == bindparam("project"), projects.c.namespace_id.is_not(None)
)
_RECORD_HEAD = (
    update(projects)
    .where(projects.c.id == bindparam("project"), projects.c.default_branch == bindparam("noted"))
    .values(default_branch=bindparam("head"))
)


def head_job_key(project_id: int) -> str:
    """The key of the job that lets HEAD of a project follow its row."""
    return f"head {project_id}"


def reconcile_head(db: Connection, store: RepositoryStore, project_id: int) -> tuple[str, str] | None:
    """Let HEAD follow the row; gives the row's branch and HEAD's where it cannot, because that branch is gone."""
    row = _intended_head(db, project_id)
    if row is None:
        return None
    asked: list[str] = []

    def ask() -> str | None:
        now = _intended_head(db, project_id)
        asked.extend(now[:1] if now else ())
        return now[0] if now else None

    try:
        head = settle_head_of(store.open(row[1]), ask)
    except (MissingRepository, FileNotFoundError):  # The project was deleted, or an import begins anew.
        return None
    return (asked[0], head) if asked and head is not None and head != asked[0] else None


def record_head(db: Connection, project_id: int, noted: str, head: str) -> None:
    """Let the row say where HEAD points, unless it was given another wish meanwhile."""
    db.run(_RECORD_HEAD, project=project_id, noted=noted, head=head)


def _intended_head(db: Connection, project_id: int) -> tuple[str, str] | None:
    """What the row says, and of which repository; an import that is not over decides by itself."""
    rows = db.rows(_INTENDED_HEAD, project=project_id)
    if not rows or rows[0][1] in ("scheduled", "started"):
        return None
    return rows[0][0], rows[0][2]
