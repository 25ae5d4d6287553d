"""Transfers of large files: streamed, and checked while they are written."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from ingot.core.api.ranges import content_response
from ingot.core.api.responses import ApiResponse
from ingot.core.api.routes import ContentResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.request import Request
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.files import ContentMismatch, IncomingFile, LfsFiles
from ingot.repositories.lfs.queries import sizes_in_project
from ingot.repositories.lfs.service import link_object, lock_object_row
from ingot.transport.callers import Authenticate
from ingot.transport.policy import current_access
from ingot.transport.refusals import GitRequestRefused
from ingot.transport.request_bodies import RequestTooLarge, read_body

_BUFFER_BYTES = 2**20
"""Size of the writes to disk, which a thread does."""


class LfsTransfers:
    """Downloads and uploads of large files."""

    def __init__(self, database: Database, pool: Executor, files: LfsFiles) -> None:
        self._database = database
        self._pool = pool
        self._files = files

    async def download(self, request: Request, project: Project, oid: str) -> ApiResponse:
        """Return a file of the project, or the requested range of it, or a redirect to the bucket that has it."""
        sizes = await self._database.read_async(
            partial(sizes_in_project, project_id=project.id, oids=[oid]), self._pool
        )
        url = self._files.download_url(oid) if oid in sizes and request.method == "GET" else None
        if url is not None:
            return ApiResponse(302, b"", [(b"location", url.encode())])
        size = await self._size_of(oid)
        if oid not in sizes or size is None:
            raise GitRequestRefused(
                404, "Object does not exist on the server or you don't have permissions to access it"
            )
        content = ContentResponse(f'"{oid}"', size, partial(self._files.pieces, oid), "application/octet-stream")
        return content_response(content, request)

    async def upload(self, request: Request, authenticate: Authenticate, project: Project, oid: str, size: int) -> None:
        """Store a file and add it to the project; both are durable when this returns."""
        if request.headers.get(b"content-length", b"%d" % size) != b"%d" % size:
            raise GitRequestRefused(422, "The length of the content differs from the declared size.")
        try:
            await self._receive(request, oid, size)
        except (ContentMismatch, RequestTooLarge) as error:
            raise GitRequestRefused(422, str(error) or "The content is longer than the declared size.") from None
        except TransferTooSlow:
            raise GitRequestRefused(408, "The body arrived too slowly.") from None
        await self._link(authenticate, project, oid, size)

    async def _link(self, authenticate: Authenticate, project: Project, oid: str, size: int) -> None:
        def add(db: Connection) -> None:
            lock_object_row(db, oid)
            _, _, current = current_access(db, authenticate, project, "git-receive-pack")
            link_object(db, self._files, current, oid, size)

        await self._in_thread(self._database.write, add)

    async def complete(self, authenticate: Authenticate, project: Project, oid: str, size: int) -> bool:
        """Add a file that the client has uploaded to the bucket; return False if there is none."""
        try:
            accepted: bool = await self._in_thread(self._files.accept_upload, project.id, oid, size)
        except ContentMismatch as error:
            raise GitRequestRefused(422, str(error)) from None
        if accepted:
            await self._link(authenticate, project, oid, size)
        return accepted

    async def _size_of(self, oid: str) -> int | None:
        if not self._files.has_bucket:
            return self._files.size_of(oid)
        size: int | None = await self._in_thread(self._files.size_of, oid)
        return size

    async def _receive(self, request: Request, oid: str, size: int) -> None:
        incoming: IncomingFile = await self._in_thread(self._files.receive, oid, size)
        try:
            buffer = bytearray()
            async for chunk in read_body(request.receive, b"", size):
                buffer += chunk
                if len(buffer) >= _BUFFER_BYTES:
                    await self._in_thread(incoming.write, bytes(buffer))
                    buffer.clear()
            await self._in_thread(incoming.write, bytes(buffer))
            await self._in_thread(incoming.finish)
        finally:
            # Also when the client disconnects and this task is cancelled; to close and unlink the file is fast.
            incoming.discard()

    async def _in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
