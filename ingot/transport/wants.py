"""What a client asks of ``git upload-pack``: it serves every object by its id, so ours are kept from it here."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from ingot.git.hidden_objects import only_hidden
from ingot.git.repository import Repository
from ingot.transport.packet_lines import FLUSH, LENGTH, next_line, packet

_ASKING = (b"want ", b"oid ")
"""For an object, and for its size."""
_DONE = b"done"
_OID_LENGTH = 40


class NotOurs(Exception):
    """A client wants an object that is not for it."""

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.answer = packet(f"ERR upload-pack: not our ref {oid}".encode())
        """What git itself says of one that it does not have."""


async def checked_wants(
    pieces: AsyncIterator[bytes], repository: Repository, hidden: tuple[str, ...], pool: Executor
) -> AsyncIterator[bytes]:
    """Pass on what a client sends, as soon as it is known to want nothing that only hidden references hold.

    In every version of the protocol the objects are named in packets that end with a flush, and git answers to that
    or to the end of what a client has to say.
    """
    held = bytearray()
    wanted: set[str] = set()
    place = 0

    async def check() -> None:
        if wanted:
            looking = asyncio.get_running_loop().run_in_executor(pool, only_hidden, repository, {*wanted}, hidden)
            for oid in sorted(await looking):
                raise NotOurs(oid)
            wanted.clear()

    async for piece in pieces:
        held += piece
        while (line := next_line(held, place)) is not None:
            place += len(line)
            said = line[LENGTH:]
            for asking in _ASKING:
                if said.startswith(asking):
                    wanted.add(said[len(asking) : len(asking) + _OID_LENGTH].decode("latin-1").lower())
            if line == FLUSH or said.rstrip(b"\n") == _DONE:
                await check()
                yield bytes(held[:place])
                del held[:place]
                place = 0
    await check()
    if held:
        yield bytes(held)
