"""State changes of uploads."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.tables import StoredUpload, uploads


class UploadedFile(NamedTuple):
    """File that is already stored on disk."""

    secret: str
    name: str
    size: int


def delete_upload(db: Connection, upload: StoredUpload) -> None:
    """Delete the row of an upload; the sweep removes its file."""
    db.delete(uploads, upload.id)


def add_upload(db: Connection, actor: Actor, project: Project, stored: UploadedFile) -> StoredUpload:
    """Add the row of a stored file."""
    upload_id = db.insert(
        uploads,
        project_id=project.id,
        user_id=actor.user_id,
        secret=stored.secret,
        name=stored.name,
        size=stored.size,
        created_at=db.now,
    )
    return StoredUpload(upload_id, project.id, actor.user_id, stored.secret, stored.name, stored.size, db.now)
