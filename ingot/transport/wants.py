"""What a client asks of ``git upload-pack``: it serves every object by its id, so ours are kept from it here."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from ingot.git.core.repository import Repository
from ingot.git.history.hidden_objects import hidden_objects_among
from ingot.transport.packet_lines import FLUSH, LENGTH, encode_packet, read_packet

_WANT_PREFIXES = (b"want ", b"oid ")
"""For an object, and for its size."""
_DONE = b"done"
_OID_LENGTH = 40


class ObjectNotServed(Exception):
    """A client wants an object that is not for it."""

    def __init__(self, oid: str) -> None:
        super().__init__(oid)
        self.answer = encode_packet(f"ERR upload-pack: not our ref {oid}".encode())
        """What git itself says of one that it does not have."""


async def check_wants(
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
            looking = asyncio.get_running_loop().run_in_executor(
                pool, hidden_objects_among, repository, {*wanted}, hidden
            )
            for oid in sorted(await looking):
                raise ObjectNotServed(oid)
            wanted.clear()

    async for piece in pieces:
        held += piece
        while (line := read_packet(held, place)) is not None:
            place += len(line)
            said = line[LENGTH:]
            for asking in _WANT_PREFIXES:
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
