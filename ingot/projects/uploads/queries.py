"""Queries of uploads."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.tables import StoredUpload, uploads

_BY_SECRET = select(uploads).where(
    uploads.c.project_id == bindparam("project"), uploads.c.secret == bindparam("secret")
)
_OF_PROJECT = select(uploads).where(uploads.c.project_id == bindparam("project"))
_BY_ID = _OF_PROJECT.where(uploads.c.id == bindparam("id"))
_LIST = list_query(_OF_PROJECT, uploads.c.id, uploads.c.id.desc())
_SECRETS = select(uploads.c.secret).where(uploads.c.project_id == bindparam("project"))


def upload_or_none(db: Connection, project: Project, secret: str) -> StoredUpload | None:
    """Return a project's upload by its secret."""
    return db.first(StoredUpload, _BY_SECRET, project=project.id, secret=secret)


def find_upload(db: Connection, project: Project, upload_id: int) -> StoredUpload:
    """Return a project's upload by its id; raise NotFound if there is none."""
    upload = db.first(StoredUpload, _BY_ID, project=project.id, id=upload_id)
    if upload is None:
        raise NotFound("Upload")
    return upload


def find_named_upload(db: Connection, project: Project, secret: str, name: str) -> StoredUpload:
    """Return a project's upload by its secret and file name; raise NotFound if there is none."""
    upload = upload_or_none(db, project, secret)
    if upload is None or upload.name != name:
        raise NotFound("Upload")
    return upload


def list_uploads(db: Connection, project: Project, page: Page) -> Listing[StoredUpload]:
    """List the uploads of a project, the newest first."""
    return fetch_page(db, StoredUpload, _LIST, page, project=project.id)


def upload_secrets(db: Connection, project_id: int) -> set[str]:
    """Return the secrets of all uploads of a project."""
    return {secret for (secret,) in db.rows(_SECRETS, project=project_id)}
