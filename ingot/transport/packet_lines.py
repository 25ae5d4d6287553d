"""Git's packet lines (pkt-lines): each line preceded by its length in hexadecimal."""

LENGTH_BYTES = 4
FLUSH = b"0000"
_SPECIAL = (FLUSH, b"0001", b"0002")
"""Flush, delimiter and end of response: packets without content."""


class MalformedPacket(Exception):
    """Bytes that are not a packet line."""


def read_packet(buffer: bytearray, offset: int) -> bytes | None:
    """Return the packet at an offset including its length, or None where it is not complete yet."""
    length = bytes(buffer[offset : offset + LENGTH_BYTES])
    if len(length) < LENGTH_BYTES:
        return None
    if length in _SPECIAL:
        return length
    try:
        size = int(length, 16)
    except ValueError:
        raise MalformedPacket from None
    if size < LENGTH_BYTES:
        raise MalformedPacket
    return bytes(buffer[offset : offset + size]) if len(buffer) >= offset + size else None


def encode_packet(line: bytes) -> bytes:
    """Encode a line as a packet."""
    return b"%04x%s" % (LENGTH_BYTES + len(line), line)
