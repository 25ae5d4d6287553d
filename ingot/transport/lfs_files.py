"""Large files on their way in and out: streamed, checked while they are written, and never held in memory."""

import asyncio
import errno
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
from ingot.transport.admission import GitRequestRefused, service_unavailable
from ingot.transport.bodies import BodyTooLarge, read_body
from ingot.transport.callers import Authenticate
from ingot.transport.policy import require_service

MAX_CONCURRENT_TRANSFERS = 24
QUEUE_TIMEOUT_SECONDS = 20.0
_WRITE_CHUNK_SIZE = 2**20
"""What is gathered before a thread writes it."""
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LfsTransfers:
    """Takes large files in, and gives them out."""

    def __init__(self, database: Database, pool: Executor, files: LfsFiles) -> None:
        self._database = database
        self._pool = pool
        self._files = files
        self._places = asyncio.Semaphore(MAX_CONCURRENT_TRANSFERS)

    def download(self, request: Request, project: Project, oid: str) -> ApiResponse:
        """A file that the project has, or the part of it that was asked for."""
        sizes = self._database.read(partial(sizes_in_project, project_id=project.id, oids=[oid]))
        size = self._files.size_of(oid)
        if oid not in sizes or size is None:
            raise GitRequestRefused(
                404, "Object does not exist on the server or you don't have permissions to access it"
            )
        content = ContentResponse(f'"{oid}"', size, partial(self._files.pieces, oid), "application/octet-stream")
        return content_response(content, request)

    async def upload(self, request: Request, authenticate: Authenticate, project: Project, oid: str, size: int) -> None:
        """Take a file in; when this returns, the project has it, whatever happens next."""
        if request.headers.get(b"content-length", b"%d" % size) != b"%d" % size:
            raise GitRequestRefused(422, "The length of the content is not the size that was named.")
        try:
            await asyncio.wait_for(self._places.acquire(), QUEUE_TIMEOUT_SECONDS)
        except TimeoutError:
            raise service_unavailable("The server is busy with other transfers. Retry later.") from None
        try:
            await self._take(request, oid, size)
        except (ContentMismatch, BodyTooLarge) as error:
            raise GitRequestRefused(422, str(error) or "More was sent than the size that was named.") from None
        except (TransferTooSlow, TimeoutError):
            raise GitRequestRefused(408, "The body came too slowly.") from None
        except OSError as error:
            if error.errno not in _DISK_FULL_ERRNOS:
                raise
            raise GitRequestRefused(507, "There is no room for this file.") from None
        finally:
            self._places.release()

        def give(db: Connection) -> None:
            lock_object_row(db, oid)
            _, _, found = require_service(db, authenticate, project, "git-receive-pack")
            link_object(db, self._files, found, oid, size)

        await self._in_thread(self._database.write, give)

    async def _take(self, request: Request, oid: str, size: int) -> None:
        incoming: IncomingFile = await self._in_thread(self._files.receive, oid, size)
        try:
            gathered = bytearray()
            async for piece in read_body(request.receive, b"", size):
                gathered += piece
                if len(gathered) >= _WRITE_CHUNK_SIZE:
                    await self._in_thread(incoming.write, bytes(gathered))
                    gathered.clear()
            await self._in_thread(incoming.write, bytes(gathered))
            await self._in_thread(incoming.finish)
        finally:
            # Also when the client has gone and this task is cancelled: closing and unlinking takes moments.
            incoming.discard()

    async def _in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
