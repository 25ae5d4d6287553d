"""Check of requests to ``git receive-pack``, which reads all ref updates into memory before any hook runs."""

from collections.abc import AsyncIterator

from ingot.transport.packet_lines import FLUSH, LENGTH_BYTES, MalformedPacket, encode_packet, read_packet

MAX_COMMANDS = 100_000
"""Ref updates that git may read; fewer are accepted, and refused by a hook with a report for each ref."""
MAX_COMMANDS_BYTES = 16 * 2**20
MAX_OPTIONS_BYTES = 2**20
MAX_OBJECTS = 20_000_000
"""Objects that a pack may announce; git allocates memory for all of them at once."""
_PACK_HEADER_BYTES = 12
_COUNT_START = 8
_SIDE_BAND = b"side-band-64k"
_PUSH_OPTIONS = b"push-options"
_ERROR_BAND = b"\3"


class PushTooLarge(Exception):
    """Push with more refs or objects than allowed; ``response`` reports that to the client."""

    def __init__(self, text: str, capabilities: bytes) -> None:
        super().__init__(text)
        message = f"{text}\n".encode()
        has_bands = _SIDE_BAND in capabilities.split()
        self.response = encode_packet(_ERROR_BAND + message if has_bands else b"unpack " + message) + FLUSH


class _PushReader:
    """Parser of the part of a request that precedes the pack."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._section = "commands"
        self._bytes = 0
        self._commands = 0
        self.capabilities = b""

    @property
    def ended(self) -> bool:
        """Whether the rest of the request needs no check."""
        return self._section == "pack"

    def feed(self, chunk: bytes) -> None:
        """Parse the next bytes; raise ``PushTooLarge``. Git itself reports what is not in the form of the protocol."""
        self._buffer += chunk
        try:
            self._read_packets()
        except MalformedPacket:
            self._section = "pack"
            self._buffer.clear()
        if self._section == "header" and len(self._buffer) >= _PACK_HEADER_BYTES:
            self._section = "pack"
            count = int.from_bytes(self._buffer[_COUNT_START:_PACK_HEADER_BYTES], "big")
            self._buffer.clear()
            if count > MAX_OBJECTS:
                raise PushTooLarge(f"A push may contain {MAX_OBJECTS} objects at most.", self.capabilities)

    def _read_packets(self) -> None:
        offset = 0
        while self._section in ("commands", "options"):
            packet = read_packet(self._buffer, offset)
            if packet is None:
                break
            offset += len(packet)
            self._packet(packet)
        del self._buffer[:offset]

    def _packet(self, packet: bytes) -> None:
        if packet == FLUSH and self._commands == 0:
            # Nothing to update: git sends the options of ``-o`` even so, and no pack.
            self._section = "pack"
            return
        if packet == FLUSH:
            has_options = self._section == "commands" and _PUSH_OPTIONS in self.capabilities.split()
            self._section, self._bytes = ("options", 0) if has_options else ("header", 0)
            return
        self._bytes += len(packet)
        if self._section == "options":
            if self._bytes > MAX_OPTIONS_BYTES:
                raise PushTooLarge("The push options are too long.", self.capabilities)
            return
        if not self.capabilities:
            self.capabilities = packet[LENGTH_BYTES:].partition(b"\0")[2]
        self._commands += 1
        if self._commands > MAX_COMMANDS or self._bytes > MAX_COMMANDS_BYTES:
            raise PushTooLarge(f"A push may change {MAX_COMMANDS} references at most.", self.capabilities)


async def check_push(chunks: AsyncIterator[bytes], *, to_end: bool) -> AsyncIterator[bytes]:
    """Pass a request on; raise ``PushTooLarge``, with ``to_end`` after the whole request was read.

    Over HTTP, clients read no response before they have sent everything.
    """
    reader = _PushReader()
    async for chunk in chunks:
        if not reader.ended:
            try:
                reader.feed(chunk)
            except PushTooLarge:
                if to_end:
                    async for _ in chunks:
                        pass
                raise
        yield chunk
