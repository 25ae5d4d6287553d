"""Git's packets: lines with their lengths before them."""

LENGTH = 4
FLUSH = b"0000"
_MARKS = (FLUSH, b"0001", b"0002")


class MalformedPacket(Exception):
    """What was sent is no packet."""


def read_packet(sent: bytearray, place: int) -> bytes | None:
    """The line at a place with its length before it, or nothing where not all of it has come yet."""
    length = bytes(sent[place : place + LENGTH])
    if len(length) < LENGTH:
        return None
    if length in _MARKS:
        return length
    try:
        size = int(length, 16)
    except ValueError:
        raise MalformedPacket from None
    if size < LENGTH:
        raise MalformedPacket
    return bytes(sent[place : place + size]) if len(sent) >= place + size else None


def encode_packet(line: bytes) -> bytes:
    """A line as a packet."""
    return b"%04x%s" % (LENGTH + len(line), line)
