"""Filter of the messages that git sends to clients, so that they name no path of this server.

Paths within the repository become relative; a line with any other absolute path is replaced by a general message.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

from ingot.transport.packet_lines import LENGTH_BYTES, MalformedPacket, encode_packet, read_packet

GENERAL_MESSAGE = "error: git could not complete this request; the log of the server has the details."
_ABSOLUTE_PATH = re.compile(r"(?:^|[\s'\"`(=\[<>])/[^/\s'\"]+/")
"""A path from the root with at least two parts; addresses such as ``https://host/path`` do not match."""
_MESSAGES, _FATAL_ERROR = 2, 3
"""Bands of a response with side-bands; the first one carries data."""
_ERROR = b"ERR "
_MAX_HELD_BYTES = 60_000
_MAX_PACKET_BYTES = 60_000


class MessageFilter:
    """Filter of git's output that passes data on unchanged and checks the messages in it.

    Messages arrive in pieces of any size, so the beginning of a line is held until the rest has arrived.
    """

    def __init__(self, repository: Path, report: Callable[[str], None]) -> None:
        self._repository = repository
        self._report = report
        self._buffer = bytearray()
        self._held = bytearray()
        self._raw = False

    def feed(self, chunk: bytes) -> bytes:
        """Return the part of the output that can be sent to the client now."""
        if self._raw:
            return chunk
        self._buffer += chunk
        offset, parts = 0, []
        while not self._raw:
            try:
                packet = read_packet(self._buffer, offset)
            except MalformedPacket:  # Data without packets follows, such as a pack for an old client.
                self._raw = True
                break
            if packet is None:
                break
            offset += len(packet)
            parts.append(self._filtered(packet))
        rest = self._buffer[offset:]
        self._buffer = bytearray() if self._raw else rest
        return b"".join(parts) + (self._release() + rest if self._raw else b"")

    def finish(self) -> bytes:
        """Return the rest of the output at its end."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        return self._release() + rest

    def _filtered(self, packet: bytes) -> bytes:
        content = packet[LENGTH_BYTES:]
        if content[:1] == bytes([_MESSAGES]):
            return self._messages(packet, content[1:])
        if content[:1] == bytes([_FATAL_ERROR]) or content.startswith(_ERROR):
            start = 1 if content[0] == _FATAL_ERROR else len(_ERROR)
            packet = encode_packet(content[:start] + self._clean(content[start:]))
        return self._release() + packet

    def _messages(self, packet: bytes, text: bytes) -> bytes:
        if not text:  # Sent to keep the connection open.
            return packet
        self._held += text
        end = max(self._held.rfind(b"\n"), self._held.rfind(b"\r")) + 1
        if not end and len(self._held) > _MAX_HELD_BYTES:
            end = len(self._held)
        lines = bytes(self._held[:end])
        del self._held[:end]
        return self._encode(lines)

    def _release(self) -> bytes:
        held, self._held = bytes(self._held), bytearray()
        return self._encode(held)

    def _encode(self, text: bytes) -> bytes:
        cleaned = self._clean(text)
        pieces = [cleaned[start : start + _MAX_PACKET_BYTES] for start in range(0, len(cleaned), _MAX_PACKET_BYTES)]
        return b"".join(encode_packet(bytes([_MESSAGES]) + piece) for piece in pieces)

    def _clean(self, text: bytes) -> bytes:
        cleaned = clean_messages(text.decode(errors="surrogateescape"), self._repository, self._report)
        return cleaned.encode(errors="surrogateescape")


def clean_messages(text: str, repository: Path, report: Callable[[str], None]) -> str:
    """Remove absolute paths from the lines of a text; pass the lines that had to be replaced to ``report``."""
    if not _ABSOLUTE_PATH.search(text):
        return text
    for root in dict.fromkeys((str(repository), str(repository.absolute()), os.path.realpath(repository))):
        text = text.replace(root, ".")
    lines = []
    for line in text.splitlines(keepends=True):
        if _ABSOLUTE_PATH.search(line):
            report(line.strip())
            lines.append(GENERAL_MESSAGE + line[len(line.rstrip("\r\n")) :])
        else:
            lines.append(line)
    return "".join(lines)
