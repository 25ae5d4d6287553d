"""Uploads of artifacts, streamed to disk: a body of any size needs little memory."""

import asyncio
from functools import partial
from typing import BinaryIO

import msgspec

from ingot.accounts.instance.all_settings import AllSettings, all_settings
from ingot.ci.artifacts.archives import InvalidArchive, open_archive
from ingot.ci.artifacts.params import UploadArtifact
from ingot.ci.artifacts.reports.content import InvalidReport
from ingot.ci.artifacts.reports.dotenv import parse_dotenv
from ingot.ci.artifacts.service import StoredFile
from ingot.ci.artifacts.store import ArtifactStore, ArtifactTooLarge, IncomingArtifact, artifact_store_of
from ingot.ci.artifacts.tables import ArtifactFormat
from ingot.ci.config.durations import parse_duration
from ingot.ci.job_records.queries import job_by_id, require_active_user
from ingot.ci.job_records.tables import CiJob
from ingot.core.api.multipart import MalformedBody, parse_multipart
from ingot.core.api.params import ParamsReader, Upload, number_or_none
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.core.http.body_budget import ANONYMOUS_BODY_LIMIT
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import existing_project

MAX_PARTS = 20
MULTIPART_OVERHEAD_BYTES = 2**20
"""Allowed size of the request body beyond the file itself."""
MAX_FILENAME_LENGTH = 255
RUNNING = ("running", "canceling")
"""Statuses of a job that its runner still executes."""
_params = ParamsReader(UploadArtifact)
_MISSING_FILE = "400 (Bad request) Missing artifacts file! Send it as the field 'file' of a multipart/form-data body."
_TOO_LARGE = "413 Request Entity Too Large"


def find_running_job(db: Connection, job_id: int | None, token: str | None) -> CiJob:
    """Return a job that a runner executes with this token; raise NotFound or Denied otherwise."""
    job = None if job_id is None else job_by_id(db, job_id)
    if job is None:
        raise NotFound(message="404 Not found")
    if not token or job.token_digest is None or db.vault.digest(token) != job.token_digest:
        raise Denied
    if job.erased_at is not None:
        raise Denied("Job has been erased!")
    if job.status not in RUNNING:
        raise Denied("Job is not running!")
    require_active_user(db, job)
    return job


def max_artifacts_size(db: Connection, job_id: int | None, default: int) -> int:
    """Return the largest size in megabytes: that of the project, of the nearest group that has one, or the default."""
    job = None if job_id is None else job_by_id(db, job_id)
    if job is None:
        return default
    project = existing_project(db, job.project_id)
    size = project.ci_options.max_artifacts_size
    namespace: Namespace | None = namespace_by_id(db, project.namespace_id)
    while size is None and namespace is not None and namespace.kind == "group":
        size = namespace.options.max_artifacts_size
        namespace = namespace_by_id(db, namespace.parent_id) if namespace.parent_id is not None else None
    return default if size is None else size


async def receive_artifact(context: BodyContext) -> tuple[StoredFile, str | None]:
    """Store the uploaded file; return it with the token, which may be in the body like all parameters."""
    params: UploadArtifact = context.params
    job_id, token = number_or_none(context.path["id"]), params.token
    settings = await context.read(all_settings)
    find_size = partial(max_artifacts_size, job_id=job_id, default=settings.max_artifacts_size)
    max_bytes = 2**20 * await context.read(find_size)
    body_limit = max_bytes + MULTIPART_OVERHEAD_BYTES
    if token is None:
        # The body may contain the token; until then anyone may have sent it.
        body_limit = min(body_limit, ANONYMOUS_BODY_LIMIT)
    else:
        await context.read(partial(find_running_job, job_id=job_id, token=token))
        context.charge.anonymous = False
    store = artifact_store_of(context.settings)
    fields = await _read_fields(context, store, body_limit, max_bytes)
    incoming: IncomingArtifact | None = None
    try:
        upload = fields.get("file")
        if not isinstance(upload, Upload):
            raise Invalid(_MISSING_FILE)
        incoming = upload.file
        sent = {name: value for name, value in fields.items() if isinstance(value, str)}
        params = _params.read({**msgspec.to_builtins(params), **sent})
        token = params.token
        await context.read(partial(find_running_job, job_id=job_id, token=token))
        expire_in = _expiry(params.expire_in or settings.default_artifacts_expire_in)
        # Not in the pool of the kernel: to sync a large file takes seconds, in which other calls would wait.
        stored = await asyncio.to_thread(_store, incoming, upload.filename, params, expire_in, settings)
        context.undo.append(partial(store.delete, incoming.key))
        return stored, token
    finally:
        for value in fields.values():
            if isinstance(value, Upload):
                value.file.close()


async def _read_fields(
    context: BodyContext, store: ArtifactStore, body_limit: int, max_bytes: int
) -> dict[str, str | Upload]:
    kind = context.headers.get(b"content-type", b"")
    if kind.split(b";")[0].strip().lower() != b"multipart/form-data":
        raise Invalid(_MISSING_FILE)
    pieces = read_body(context.receive, context.headers, body_limit, streamed=True)
    try:
        items = await parse_multipart(
            pieces, kind, context.charge, max_parts=MAX_PARTS, open_file=partial(store.receive, max_bytes)
        )
    except ArtifactTooLarge:
        raise BadRequest(413, _TOO_LARGE) from None
    except MalformedBody as error:
        raise BadRequest(400, "400 (Bad request) the multipart body is malformed") from error
    fields: dict[str, str | Upload] = {}
    for name, value in items:
        if name in fields and isinstance(value, Upload):
            value.file.close()
        else:
            fields[name] = value
    return fields


def _expiry(text: str) -> int | None:
    if text.strip().lower() == "never":
        return None
    seconds = parse_duration(text)
    if seconds is None:
        raise Invalid(expire_in=["is invalid"])
    return seconds or None


def _store(
    incoming: IncomingArtifact, filename: str, params: UploadArtifact, expire_in: int | None, settings: AllSettings
) -> StoredFile:
    """Check the content of a file and publish it."""
    file_format = params.artifact_format or _default_format(params)
    variables: tuple[tuple[str, str], ...] = ()
    try:
        if file_format == "zip":
            _check_archive(incoming.content, incoming.size)
        elif params.artifact_type == "dotenv":
            variables = parse_dotenv(
                incoming.content,
                file_format,
                max_bytes=settings.dotenv_size,
                max_variables=settings.dotenv_variables,
            )
    except InvalidArchive as error:
        raise Invalid(f"400 (Bad request) The archive is rejected: {error}") from None
    except InvalidReport as error:
        raise Invalid(f"400 (Bad request) {error}") from None
    incoming.publish()
    name = _clean_filename(filename) or f"{params.artifact_type}.{'zip' if file_format == 'zip' else 'gz'}"
    return StoredFile(incoming.key, name, incoming.size, params.artifact_type, file_format, expire_in, variables)


def _default_format(params: UploadArtifact) -> ArtifactFormat:
    return "zip" if params.artifact_type == "archive" else "gzip"


def _check_archive(file: BinaryIO, size: int) -> None:
    with open_archive(file, size) as archive:
        archive.validate()


def _clean_filename(name: str) -> str:
    """Return the last part of a file name without control characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(character for character in last if character.isprintable()).strip()[:MAX_FILENAME_LENGTH]
