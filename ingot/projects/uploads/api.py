"""Uploads over the API."""

import os
import secrets

from ingot.access.rules import require
from ingot.api.fields import BadRequest
from ingot.api.routes import Ahead, Call, Routes
from ingot.db.connection import Connection
from ingot.instance.settings import current_settings
from ingot.projects import policy
from ingot.projects.api import project_in_path
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.projects.uploads.files import uploads_of
from ingot.projects.uploads.names import tidied
from ingot.projects.uploads.params import UploadFile
from ingot.projects.uploads.service import Kept, add_upload
from ingot.projects.uploads.views import UploadView, upload_view

ENVELOPE_BYTES = 2**20
"""What a body may hold beside the file."""

routes = Routes("projects")


def most_bytes(db: Connection) -> int:
    """How large a file may be, as an administrator said."""
    return current_settings(db).max_attachment_size * 2**20


def _body_limit(db: Connection) -> int:
    return most_bytes(db) + ENVELOPE_BYTES


def _keep_file(ahead: Ahead, params: UploadFile) -> Kept:
    """Put the file where it will stay, ahead of the row that names it; one that stays without a row is swept up."""

    def look(db: Connection) -> tuple[Project, int]:
        here, project = find_project(db, ahead.actor, ahead.path["id"])
        require(policy.may_upload(ahead.actor, here, project))
        return project, most_bytes(db)

    project, most = ahead.database.read(look, ahead_of_change=True)
    content = params.file.file
    if content.seek(0, os.SEEK_END) > most:
        raise BadRequest(413, "413 Request Entity Too Large")
    content.seek(0)
    secret, name = secrets.token_hex(16), tidied(params.file.filename)
    return Kept(secret, name, uploads_of(ahead.settings).store(project.id, secret, name, content))


@routes.post(
    "/projects/:id/uploads",
    on=project_in_path,
    may=policy.may_upload,
    returns=UploadView,
    prepare=_keep_file,
    body_limit=_body_limit,
)
def upload_file(call: Call, project: Project, params: UploadFile, kept: Kept) -> UploadView:  # noqa: ARG001 - The file itself was stored ahead.
    """Upload a file, to mention it in a text."""
    return upload_view(project, add_upload(call.db, call.actor, project, kept))
