"""Decoding of file contents in requests."""

import binascii

from ingot.core.db.connection import Connection
from ingot.errors import Invalid
from ingot.repositories.commit_writing.params import Encoding

MAX_BODY_BYTES = 100 * 2**20
"""Limit of a whole request body as sent; larger files have to be pushed."""
_WHITESPACE = b"\t\n\r "
_MEGABYTE = 2**20


def decode_content(text: str, encoding: Encoding, max_mb: int) -> bytes:
    """Return the bytes of a file; raise Invalid if they exceed the size limit. Line breaks in base64 are ignored."""
    content = text.encode() if encoding == "text" else _from_base64(text)
    if max_mb and len(content) > max_mb * _MEGABYTE:
        raise Invalid(content=[f"is larger than the {max_mb} MB that are allowed"])
    return content


def _from_base64(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text.encode("ascii").translate(None, _WHITESPACE), strict_mode=True)
    except ValueError as error:
        raise Invalid(content=["is not valid base64"]) from error


def body_limit(db: Connection) -> int:  # noqa: ARG001 - The kernel passes a connection.
    """Return the request size limit of endpoints that write files.

    As a function, it applies to signed-in users only.
    """
    return MAX_BODY_BYTES
