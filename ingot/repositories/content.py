"""Responses with file content: displayed as text or offered for download, never executed by a browser."""

import codecs
import re
from base64 import b64encode
from collections.abc import Generator, Iterable
from functools import partial
from hashlib import blake2b

from ingot.core.api.request_fields import BadRequest
from ingot.core.api.responses import encode
from ingot.core.api.routes import ContentResponse, RawResponse, StreamedResponse
from ingot.core.api.views import View
from ingot.core.errors import Invalid
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.core.http.request import Header
from ingot.git.core.paths import path_error
from ingot.git.trees.blobs import Blob, read_start, stream_blob

MAX_JSON_BYTES = 32 * 2**20
"""Maximum size of a file whose content is sent as part of a JSON document; larger ones are sent raw only."""
_NO_CONTENT = b'"content":""'
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def normalize_path(text: str, field: str) -> str:
    """Return a path without leading and trailing slashes (empty for the root).

    Raise Invalid if it is not a valid path.
    """
    error = path_error(text)
    if error is not None:
        raise Invalid(**{field: [error]})
    return text.strip("/")


def blob_response(blob: Blob, name: str, headers: tuple[Header, ...] = ()) -> ContentResponse:
    """Return a response with the content of a blob; ``name`` is the file name for downloads."""
    charset = _detect_charset(read_start(blob))
    return ContentResponse(
        f'"{blob.oid}"',
        blob.size,
        partial(stream_blob, blob),
        f"text/plain; charset={charset}" if charset else "application/octet-stream",
        (*headers, content_disposition("inline" if charset else "attachment", name), SANDBOX),
        blob.body,
    )


def require_json_size(blob: Blob) -> None:
    """Refuse a blob that is too large for a JSON document with 413."""
    if blob.size > MAX_JSON_BYTES:
        raise BadRequest(413, f"413 The file is larger than {MAX_JSON_BYTES // 2**20} MB; request its raw content")


def json_response_with_content(
    view: View, blob: Blob, headers: tuple[Header, ...] = ()
) -> RawResponse | StreamedResponse:
    """Return a view with its content if small; otherwise stream the content into its empty ``content`` field."""
    body = encode(view)
    if blob.body is not None:
        return RawResponse(body, "application/json", headers)
    # A quotation mark inside a JSON string is escaped, so this sequence can only be the field itself.
    before, after = body.split(_NO_CONTENT, 1)
    head, tail = before + _NO_CONTENT[:-1], b'"' + after
    length = len(head) + (blob.size + 2) // 3 * 4 + len(tail)
    pieces = _stream_with_content(head, stream_blob(blob, 0, blob.size), tail)
    return StreamedResponse(pieces, "application/json", headers, length)


def _stream_with_content(
    head: bytes, pieces: Generator[bytes, None, None], tail: bytes
) -> Generator[bytes, None, None]:
    yield head
    rest = b""
    try:
        for piece in pieces:
            rest += piece
            whole = len(rest) - len(rest) % 3
            if whole:
                yield b64encode(rest[:whole])
            rest = rest[whole:]
    finally:
        pieces.close()
    yield b64encode(rest) + tail


def header_value(text: str) -> bytes:
    """Return a text as a header value, with control characters percent-encoded."""
    if not text.isprintable():
        text = _CONTROL.sub(lambda match: f"%{ord(match[0]):02X}", text)
    return text.encode(errors="replace")


def entity_tag(parts: Iterable[str]) -> str:
    """Return a weak entity tag computed from the given parts."""
    return f'W/"{blake2b(chr(0).join(parts).encode(errors="replace"), digest_size=16).hexdigest()}"'


def _detect_charset(start: bytes) -> str | None:
    """Guess the character set of a content; return None for binary content."""
    if b"\0" in start:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # The slice may end inside a multi-byte character.
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "utf-8"
