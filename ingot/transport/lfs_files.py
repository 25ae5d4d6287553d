"""Large files on their way in and out: streamed, checked while they are written, and never held in memory."""

import asyncio
import errno
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from ingot.api.answers import Answer
from ingot.api.ranges import content_answer
from ingot.api.routes import Content
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.http.pace import TooSlow
from ingot.http.request import Request
from ingot.lfs.files import Incoming, LfsFiles, NotWhatItSays
from ingot.lfs.queries import sizes_in_project
from ingot.lfs.service import give_object, hold_object
from ingot.projects.tables import Project
from ingot.transport.admission import Refused, busy
from ingot.transport.bodies import TooLarge, read_body
from ingot.transport.callers import Prove
from ingot.transport.policy import standing

MOST_AT_ONCE = 24
WAIT_SECONDS = 20.0
_ENOUGH = 2**20
"""What is gathered before a thread writes it."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Transfers:
    """Takes large files in, and gives them out."""

    def __init__(self, database: Database, pool: Executor, files: LfsFiles) -> None:
        self._database = database
        self._pool = pool
        self._files = files
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    def download(self, request: Request, project: Project, oid: str) -> Answer:
        """A file that the project has, or the part of it that was asked for."""
        sizes = self._database.read(partial(sizes_in_project, project_id=project.id, oids=[oid]))
        size = self._files.size_of(oid)
        if oid not in sizes or size is None:
            raise Refused(404, "Object does not exist on the server or you don't have permissions to access it")
        content = Content(f'"{oid}"', size, partial(self._files.pieces, oid), "application/octet-stream")
        return content_answer(content, request)

    async def upload(self, request: Request, prove: Prove, project: Project, oid: str, size: int) -> None:
        """Take a file in; when this returns, the project has it, whatever happens next."""
        if request.headers.get(b"content-length", b"%d" % size) != b"%d" % size:
            raise Refused(422, "The length of the content is not the size that was named.")
        try:
            await asyncio.wait_for(self._places.acquire(), WAIT_SECONDS)
        except TimeoutError:
            raise busy("The server is busy with other transfers. Retry later.") from None
        try:
            await self._take(request, oid, size)
        except (NotWhatItSays, TooLarge) as error:
            raise Refused(422, str(error) or "More was sent than the size that was named.") from None
        except (TooSlow, TimeoutError):
            raise Refused(408, "The body came too slowly.") from None
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise Refused(507, "There is no room for this file.") from None
        finally:
            self._places.release()

        def give(db: Connection) -> None:
            hold_object(db, oid)
            _, _, found = standing(db, prove, project, "git-receive-pack")
            give_object(db, self._files, found, oid, size)

        await self._in_thread(self._database.write, give)

    async def _take(self, request: Request, oid: str, size: int) -> None:
        incoming: Incoming = await self._in_thread(self._files.receive, oid, size)
        try:
            gathered = bytearray()
            async for piece in read_body(request.receive, b"", size):
                gathered += piece
                if len(gathered) >= _ENOUGH:
                    await self._in_thread(incoming.write, bytes(gathered))
                    gathered.clear()
            await self._in_thread(incoming.write, bytes(gathered))
            await self._in_thread(incoming.finish)
        finally:
            # Also when the client has gone and this task is cancelled: closing and unlinking takes moments.
            incoming.discard()

    async def _in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
