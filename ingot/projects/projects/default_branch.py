"""Consistency of a repository's HEAD with the default branch in the project's row.

HEAD is authoritative because git serves it; the row holds a copy for lists. A change is committed in the row together
with a job. HEAD is updated right after the commit, and the job repeats this if a crash prevented it.
"""

from sqlalchemy import bindparam, select, update

from ingot.core.db.connection import Connection
from ingot.git.core.errors import MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.head import point_head_to
from ingot.projects.projects.tables import projects

RECONCILE_HEAD = "reconcile_head"
_INTENDED_HEAD = select(projects.c.default_branch, projects.c.import_status, projects.c.repository_key).where(
    projects.c.id == bindparam("project"), projects.c.namespace_id.is_not(None)
)
_RECORD_HEAD = (
    update(projects)
    .where(projects.c.id == bindparam("project"), projects.c.default_branch == bindparam("expected"))
    .values(default_branch=bindparam("head"))
)


def head_job_key(project_id: int) -> str:
    """Return the key of the job that reconciles a project's HEAD."""
    return f"head {project_id}"


def reconcile_head(db: Connection, store: RepositoryStore, project_id: int) -> tuple[str, str] | None:
    """Point HEAD to the branch in the row.

    Returns the row's branch and that of HEAD if they still differ, because the row's branch no longer exists.
    """
    row = _intended_head(db, project_id)
    if row is None:
        return None
    intended: list[str] = []

    def read_intended() -> str | None:
        current = _intended_head(db, project_id)
        intended.extend(current[:1] if current else ())
        return current[0] if current else None

    try:
        head = point_head_to(store.open(row[1]), read_intended)
    except (MissingRepository, FileNotFoundError):  # The project was deleted, or an import starts again.
        return None
    return (intended[0], head) if intended and head is not None and head != intended[0] else None


def record_head(db: Connection, project_id: int, expected: str, head: str) -> None:
    """Write HEAD's branch to the row, unless the row has changed from the expected branch in the meantime."""
    db.run(_RECORD_HEAD, project=project_id, expected=expected, head=head)


def _intended_head(db: Connection, project_id: int) -> tuple[str, str] | None:
    """Return the branch and the repository key in the row, or None while an import sets HEAD."""
    rows = db.rows(_INTENDED_HEAD, project=project_id)
    if not rows or rows[0][1] in ("scheduled", "started"):
        return None
    return rows[0][0], rows[0][2]
