"""Part of the lock of namespaces that belongs to a project."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import projects

_PATH_BY_ID = select(projects.c.full_path_key).where(projects.c.id == bindparam("project"))


def project_path_by_id(db: Connection, project_id: int) -> str | None:
    """Return the full path of a project in lower case, without a permission check, or None."""
    path: str | None = db.value(_PATH_BY_ID, project=project_id)
    return path
