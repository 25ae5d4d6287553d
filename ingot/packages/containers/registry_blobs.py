"""Uploads and downloads of blobs in the registry protocol."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import TypeVar

from ingot.core.api.ranges import content_response
from ingot.core.api.request_fields import read_body
from ingot.core.api.responses import ApiResponse, Header
from ingot.core.api.routes import ContentResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, NotFound, Unauthenticated
from ingot.core.http.request import Request
from ingot.packages.containers import service
from ingot.packages.containers.manifests import DIGEST
from ingot.packages.containers.queries import is_referenced, linked_blob_or_none, upload_or_none
from ingot.packages.containers.registry_access import authorize, require_granted
from ingot.packages.containers.registry_errors import API_VERSION, RegistryError
from ingot.packages.containers.tables import ContainerBlob, ContainerRepository
from ingot.packages.containers.upload_files import UUID, PartialBlob, UploadBusy
from ingot.packages.files.store import PackageStore, ReceivedFile
from ingot.packages.files.uploads import write_pieces

T = TypeVar("T")
MAX_BLOB_BYTES = 100 * 2**30
_CONTENT_RANGE = re.compile(rb"(?:bytes[ =])?([0-9]{1,18})-([0-9]{1,18})(?:/[0-9*]+)?")


class RegistryBlobs:
    """Blobs of repositories: layers and configurations of images."""

    def __init__(self, database: Database, pool: Executor, store: PackageStore) -> None:
        self._database = database
        self._pool = pool
        self._store = store

    async def start(self, request: Request, name: str, query: dict[str, str]) -> ApiResponse:
        """Start an upload; mount a blob of another repository, or store the body, if the query says so."""

        def begin(db: Connection) -> tuple[str, str | None]:
            image = authorize(db, request, name, "push")
            repository = service.find_or_create_repository(db, image.project, image.name)
            mounted = self._mountable(db, request, query)
            if mounted is not None:
                service.link_blob(db, repository, mounted)
                return "", mounted.digest
            return service.start_upload(db, repository), None

        uuid, digest = await self._write(begin)
        if digest is not None:
            return _created(name, "blobs", digest)
        upload = PartialBlob(self._store, uuid)
        await self._in_thread(upload.create)
        if "digest" in query:
            await self._append(request, upload)
            return await self._complete(request, name, uuid, upload, query["digest"])
        return _progress(202, name, uuid, 0)

    def _mountable(self, db: Connection, request: Request, query: dict[str, str]) -> ContainerBlob | None:
        """Return the blob that another repository has, if the caller may read it."""
        if "mount" not in query or "from" not in query:
            return None
        require_granted(db, request, query["from"], "pull")
        try:
            source = authorize(db, request, query["from"], "pull").repository
        except (NotFound, Denied, Unauthenticated):  # The client uploads the blob instead.
            return None
        return None if source is None else linked_blob_or_none(db, source.id, query["mount"])

    async def transfer(self, request: Request, name: str, uuid: str, query: dict[str, str]) -> ApiResponse:
        """Continue, complete, describe or cancel an upload."""
        upload = await self._read(partial(self._find_upload, request=request, name=name, uuid=uuid))
        size = await self._in_thread(upload.size)
        if size is None:
            raise _unknown_upload()
        if request.method == "DELETE":
            await self._write(partial(service.end_upload, uuid=uuid))
            await self._in_thread(upload.delete)
            return ApiResponse(204, b"", [API_VERSION])
        if request.method == "GET":
            return _progress(204, name, uuid, size)
        self._check_range(request, name, uuid, size)
        await self._append(request, upload)
        if request.method == "PUT":
            return await self._complete(request, name, uuid, upload, query.get("digest", ""))
        size = await self._in_thread(upload.size)
        return _progress(202, name, uuid, size or 0)

    def _find_upload(self, db: Connection, request: Request, name: str, uuid: str) -> PartialBlob:
        repository = authorize(db, request, name, "push").repository
        if repository is None or not UUID.fullmatch(uuid) or upload_or_none(db, repository.id, uuid) is None:
            raise _unknown_upload()
        return PartialBlob(self._store, uuid)

    def _check_range(self, request: Request, name: str, uuid: str, size: int) -> None:
        """Raise unless a part begins where the upload ends."""
        header = request.headers.get(b"content-range")
        if header is None:
            return
        match = _CONTENT_RANGE.fullmatch(header.strip())
        if match is None or int(match[1]) != size:
            headers = _progress(416, name, uuid, size).headers
            raise RegistryError(416, "BLOB_UPLOAD_INVALID", "the part does not begin where the upload ends", *headers)

    async def _append(self, request: Request, upload: PartialBlob) -> None:
        try:
            writer = await self._in_thread(upload.open)
        except UploadBusy:
            raise RegistryError(409, "BLOB_UPLOAD_INVALID", "another request writes to the upload") from None
        except FileNotFoundError:
            raise _unknown_upload() from None
        try:
            await write_pieces(writer, read_body(request.receive, request.headers, MAX_BLOB_BYTES, streamed=True))
        finally:
            writer.close()

    async def _complete(self, request: Request, name: str, uuid: str, upload: PartialBlob, digest: str) -> ApiResponse:
        """Verify and publish an upload, and add it to the repository."""
        if not DIGEST.fullmatch(digest):
            raise RegistryError(400, "DIGEST_INVALID", "the digest is not a SHA-256")
        computed = await asyncio.to_thread(upload.digest)
        if f"sha256:{computed}" != digest:
            await self._in_thread(upload.delete)
            raise RegistryError(400, "DIGEST_INVALID", "the content does not match the digest")
        received: ReceivedFile = await asyncio.to_thread(upload.publish, computed)

        def add(db: Connection) -> None:
            repository = authorize(db, request, name, "push").repository
            if repository is None or upload_or_none(db, repository.id, uuid) is None:
                raise _unknown_upload()
            service.add_blob(db, repository, received)
            service.end_upload(db, uuid)

        try:
            await self._write(add)
        except (RegistryError, NotFound, Denied, Unauthenticated):
            await self._in_thread(partial(self._store.delete, received.storage_key))
            raise
        return _created(name, "blobs", digest)

    async def download(self, request: Request, name: str, digest: str) -> ApiResponse:
        """Return a blob, or the requested range of it, or a redirect to the bucket that has it."""

        def work(db: Connection) -> ContentResponse:
            _, blob = _find_blob(db, request, name, digest, "pull")
            url = self._store.download_url(blob.storage_key) if request.method == "GET" else None
            if url is None and self._store.size_of(blob.storage_key) is None:
                raise _unknown_blob()
            return ContentResponse(
                f'"{digest}"',
                blob.size,
                partial(self._store.pieces, blob.storage_key),
                "application/octet-stream",
                ((b"docker-content-digest", digest.encode()), API_VERSION),
                location=url,
            )

        return content_response(await self._read(work), request)

    async def delete(self, request: Request, name: str, digest: str) -> ApiResponse:
        """Remove a blob from a repository, unless an image of it needs the blob."""

        def work(db: Connection) -> None:
            repository, blob = _find_blob(db, request, name, digest, "delete")
            if is_referenced(db, repository.id, digest):
                raise RegistryError(405, "UNSUPPORTED", "an image references the blob")
            service.unlink_blob(db, repository, blob)

        await self._write(work)
        return ApiResponse(202, b"", [API_VERSION])

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._database.read, work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._database.write, work)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _find_blob(
    db: Connection, request: Request, name: str, digest: str, action: str
) -> tuple[ContainerRepository, ContainerBlob]:
    repository = authorize(db, request, name, "pull" if action == "pull" else "delete").repository
    blob = None if repository is None else linked_blob_or_none(db, repository.id, digest)
    if repository is None or blob is None:
        raise _unknown_blob()
    return repository, blob


def _unknown_blob() -> RegistryError:
    return RegistryError(404, "BLOB_UNKNOWN", "blob unknown to registry")


def _unknown_upload() -> RegistryError:
    return RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")


def _created(name: str, kind: str, digest: str) -> ApiResponse:
    headers: list[Header] = [
        (b"location", f"/v2/{name}/{kind}/{digest}".encode()),
        (b"docker-content-digest", digest.encode()),
        API_VERSION,
    ]
    return ApiResponse(201, b"", headers)


def _progress(status: int, name: str, uuid: str, size: int) -> ApiResponse:
    headers: list[Header] = [
        (b"location", f"/v2/{name}/blobs/uploads/{uuid}".encode()),
        (b"range", b"0-%d" % max(size - 1, 0)),
        (b"docker-upload-uuid", uuid.encode()),
    ]
    return ApiResponse(status, b"", headers)
