"""What a file's content is, from how a caller spelled it."""

import binascii

from ingot.core.db.connection import Connection
from ingot.errors import Invalid
from ingot.repositories.commit_writing.params import Encoding

MAX_BODY_BYTES = 100 * 2**20
"""Of a whole call, as it comes over the wire; larger files are pushed."""
_WHITESPACE = b"\t\n\r "
_MEGABYTE = 2**20


def decode_content(text: str, encoding: Encoding, most_mb: int) -> bytes:
    """The bytes of a file, which may be as many as in a push; those who write base64 in lines may."""
    content = text.encode() if encoding == "text" else _from_base64(text)
    if most_mb and len(content) > most_mb * _MEGABYTE:
        raise Invalid(content=[f"is larger than the {most_mb} MB that are allowed"])
    return content


def _from_base64(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text.encode("ascii").translate(None, _WHITESPACE), strict_mode=True)
    except ValueError as error:
        raise Invalid(content=["is not valid base64"]) from error


def body_limit(db: Connection) -> int:  # noqa: ARG001 - The kernel asks; a limit that is a function counts for users only.
    """How much a call may send that writes files."""
    return MAX_BODY_BYTES
