"""Check of requests to ``git upload-pack``: it serves any object by its id, also those that only hidden refs reach."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from ingot.git.core.repository import Repository
from ingot.git.history.hidden_objects import hidden_objects_among
from ingot.transport.packet_lines import FLUSH, LENGTH_BYTES, encode_packet, read_packet

_REQUESTS = (b"want ", b"oid ")
"""For an object, and for its size."""
_DONE = b"done"
_OID_LENGTH = 40


class HiddenObject(Exception):
    """Request for an object that only hidden refs reach."""

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.response = encode_packet(f"ERR upload-pack: not our ref {oid}".encode())
        """The response of git to a request for an object that does not exist."""


async def check_wants(
    chunks: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...], pool: Executor
) -> AsyncIterator[bytes]:
    """Pass a request on as soon as it is known to name no object that only hidden refs reach; raise ``HiddenObject``.

    In every version of the protocol the packets that name objects end with a flush, and git responds to that or to the
    end of the request.
    """
    buffer = bytearray()
    wanted: set[str] = set()
    offset = 0

    async def check() -> None:
        if wanted:
            search = asyncio.get_running_loop().run_in_executor(
                pool, hidden_objects_among, repository, {*wanted}, hidden
            )
            for oid in sorted(await search):
                raise HiddenObject(oid)
            wanted.clear()

    async for chunk in chunks:
        buffer += chunk
        while (line := read_packet(buffer, offset)) is not None:
            offset += len(line)
            content = line[LENGTH_BYTES:]
            for request in _REQUESTS:
                if content.startswith(request):
                    wanted.add(content[len(request) : len(request) + _OID_LENGTH].decode("latin-1").lower())
            if line == FLUSH or content.rstrip(b"\n") == _DONE:
                await check()
                yield bytes(buffer[:offset])
                del buffer[:offset]
                offset = 0
    await check()
    if buffer:
        yield bytes(buffer)
