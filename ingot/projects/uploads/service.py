"""Adding uploads."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.tables import StoredUpload, uploads


class UploadedFile(NamedTuple):
    """A file that is on the disk already."""

    secret: str
    name: str
    size: int


def add_upload(db: Connection, actor: Actor, project: Project, kept: UploadedFile) -> StoredUpload:
    """Make a stored file known."""
    upload_id = db.insert(
        uploads,
        project_id=project.id,
        user_id=actor.user_id,
        secret=kept.secret,
        name=kept.name,
        size=kept.size,
        created_at=db.now,
    )
    return StoredUpload(upload_id, project.id, actor.user_id, kept.secret, kept.name, kept.size, db.now)
