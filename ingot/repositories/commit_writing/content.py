"""Decoding of file contents in requests."""

import binascii

from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.repositories.commit_writing.params import Encoding

MAX_BODY_BYTES = 100 * 2**20
"""Limit of a whole request body as sent; larger files have to be pushed."""
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_NOT_BASE64 = bytes(byte for byte in range(256) if byte not in _ALPHABET)
_MEGABYTE = 2**20


def decode_content(text: str, encoding: Encoding, max_mb: int) -> bytes:
    """Return the bytes of a file; raise Invalid if they exceed the size limit."""
    content = text.encode() if encoding == "text" else _from_base64(text)
    if max_mb and len(content) > max_mb * _MEGABYTE:
        raise Invalid(content=[f"is larger than the {max_mb} MB that are allowed"])
    return content


def _from_base64(text: str) -> bytes:
    """Decode leniently: characters outside of the alphabet are ignored, and missing padding is added."""
    digits = text.encode().translate(None, _NOT_BASE64)
    if len(digits) % 4 == 1:
        digits = digits[:-1]  # A single digit encodes no byte.
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


def body_limit(db: Connection) -> int:  # noqa: ARG001 - The kernel passes a connection.
    """Return the request size limit of endpoints that write files.

    As a function, it applies to signed-in users only.
    """
    return MAX_BODY_BYTES
