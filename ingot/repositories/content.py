"""How the content of a file is sent: as what a browser shows as text or saves, and never as what it would run."""

import codecs
import re
from base64 import b64encode
from collections.abc import Generator, Iterable
from functools import partial
from hashlib import blake2b
from urllib.parse import quote

from ingot.core.api.responses import encode
from ingot.core.api.routes import ContentResponse, RawResponse, StreamedResponse
from ingot.core.api.views import View
from ingot.errors import Invalid
from ingot.git.core.paths import path_error
from ingot.git.trees.blobs import Blob, read_start, stream_blob

Header = tuple[bytes, bytes]
_NO_CONTENT = b'"content":""'
_UNSAFE_IN_QUOTES = re.compile(r'[^\x20-\x7e]|["\\%]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Should a browser be talked into taking it for a page: that page may do nothing at all.
SANDBOX: Header = (b"content-security-policy", b"sandbox; default-src 'none'")


def normalize_path(text: str, field: str) -> str:
    """A path as a caller wrote it, without the slashes around it; empty for the root."""
    trouble = path_error(text)
    if trouble is not None:
        raise Invalid(**{field: [trouble]})
    return text.strip("/")


def blob_response(blob: Blob, name: str, headers: tuple[Header, ...] = ()) -> ContentResponse:
    """A file's content by itself; ``name`` is what it is saved as."""
    charset = _detect_charset(read_start(blob))
    return ContentResponse(
        f'"{blob.oid}"',
        blob.size,
        partial(stream_blob, blob),
        f"text/plain; charset={charset}" if charset else "application/octet-stream",
        (*headers, content_disposition("inline" if charset else "attachment", name), SANDBOX),
        blob.body,
    )


def json_response_with_content(
    view: View, blob: Blob, headers: tuple[Header, ...] = ()
) -> RawResponse | StreamedResponse:
    """A view with a small content, or one whose empty ``content`` is to be filled while it is sent."""
    shown = encode(view)
    if blob.body is not None:
        return RawResponse(shown, "application/json", headers)
    # A quotation mark within a text would stand behind a backslash, so this can only be the field.
    before, after = shown.split(_NO_CONTENT, 1)
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


def content_disposition(how: str, name: str) -> Header:
    """Whether to show or to save, and under which name; other names than plain ones are spelled twice."""
    plain = _UNSAFE_IN_QUOTES.sub("_", name)
    value = f'{how}; filename="{plain}"'
    if plain != name:
        value += f"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return (b"content-disposition", value.encode())


def header_value(text: str) -> bytes:
    """A text as a header can hold it: what would end the line is written in per cent."""
    if not text.isprintable():
        text = _CONTROL.sub(lambda found: f"%{ord(found[0]):02X}", text)
    return text.encode(errors="replace")


def entity_tag(parts: Iterable[str]) -> str:
    """An entity tag for what follows from these, though not to the byte."""
    return f'W/"{blake2b(chr(0).join(parts).encode(errors="replace"), digest_size=16).hexdigest()}"'


def _detect_charset(start: bytes) -> str | None:
    """What a content is written in; nothing for what is no text."""
    if b"\0" in start:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # The last letter may be cut.
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "utf-8"
