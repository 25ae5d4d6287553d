"""Queries of uploads."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.tables import StoredUpload, uploads

_BY_SECRET = select(uploads).where(
    uploads.c.project_id == bindparam("project"), uploads.c.secret == bindparam("secret")
)
_SECRETS = select(uploads.c.secret).where(uploads.c.project_id == bindparam("project"))


def upload_or_none(db: Connection, project: Project, secret: str) -> StoredUpload | None:
    """Return a project's upload by its secret."""
    return db.first(StoredUpload, _BY_SECRET, project=project.id, secret=secret)


def upload_secrets(db: Connection, project_id: int) -> set[str]:
    """Return the secrets of all uploads of a project."""
    return {secret for (secret,) in db.rows(_SECRETS, project=project_id)}
