"""Request bodies that are written to the storage while they arrive."""

import asyncio
from collections.abc import AsyncIterable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from ingot.ci.artifacts.store import ArtifactTooLarge
from ingot.core.api.multipart import MalformedBody, parse_multipart
from ingot.core.api.params import Upload
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext
from ingot.packages.files.store import IncomingPackageFile, PackageStore, ReceivedFile, package_store_of

BUFFER_BYTES = 2**20
"""Size of the writes to the disk, which a thread does while the next bytes arrive."""
FORM_OVERHEAD_BYTES = 4 * 2**20
"""Allowed size of a form beyond its file."""
MAX_PARTS = 1000
TOO_LARGE = "413 Request Entity Too Large"
_UNLIMITED = 2**62


def size_limit(setting: int) -> int:
    """Return the largest size of a file in bytes; a setting of 0 is no limit."""
    return setting if setting > 0 else _UNLIMITED


class PieceWriter(Protocol):
    """File to which a body is written."""

    def write(self, piece: bytes, /) -> int:
        """Append bytes."""


async def write_pieces(incoming: PieceWriter, pieces: AsyncIterable[bytes]) -> None:
    """Write all pieces of a body; raise ArtifactTooLarge beyond the limit."""
    buffer = bytearray()
    writing: asyncio.Task[int] | None = None
    try:
        async for piece in pieces:
            buffer += piece
            if len(buffer) >= BUFFER_BYTES:
                full, buffer = bytes(buffer), bytearray()
                if writing is not None:
                    await writing
                writing = asyncio.create_task(asyncio.to_thread(incoming.write, full))
        if writing is not None:
            await writing
            writing = None
        if buffer:
            await asyncio.to_thread(incoming.write, bytes(buffer))
    finally:
        if writing is not None:  # The client has disconnected; the file must not be closed before the write ends.
            await asyncio.wait([writing])


async def receive_body(context: BodyContext, max_bytes: int, algorithms: Sequence[str]) -> ReceivedFile:
    """Store the body as a file; raise BadRequest if it is too large or incomplete.

    The file is deleted if the transaction of the call is refused.
    """
    store = package_store_of(context.settings)
    incoming = store.receive_file(max_bytes, algorithms)
    try:
        await write_pieces(incoming, read_body(context.receive, context.headers, max_bytes, streamed=True))
        return await publish(context, store, incoming)
    except ArtifactTooLarge:
        raise BadRequest(413, TOO_LARGE) from None
    finally:
        incoming.close()


async def publish(context: BodyContext, store: PackageStore, incoming: IncomingPackageFile) -> ReceivedFile:
    """Store a complete upload durably; it is deleted if the transaction of the call is refused."""
    # Not in the pool of the kernel: to sync a large file takes seconds, in which other calls would wait.
    received = await asyncio.to_thread(incoming.finish)
    context.undo.append(partial(store.delete, received.storage_key))
    return received


class UploadedForm(NamedTuple):
    """Fields of a form with one file."""

    fields: dict[str, str]
    filename: str
    incoming: IncomingPackageFile


async def receive_form(
    context: BodyContext, max_bytes: int, algorithms: Sequence[str], file_field: str
) -> UploadedForm | None:
    """Store the file of a form and return it with the text fields, or None without a file.

    The caller publishes and closes it. Raise BadRequest if the body is malformed or too large.
    """
    kind = context.headers.get(b"content-type", b"")
    if kind.split(b";")[0].strip().lower() != b"multipart/form-data":
        return None
    store = package_store_of(context.settings)
    pieces = read_body(context.receive, context.headers, max_bytes + FORM_OVERHEAD_BYTES, streamed=True)
    try:
        items = await parse_multipart(
            pieces,
            kind,
            context.charge,
            max_parts=MAX_PARTS,
            open_file=partial(store.receive_file, max_bytes, algorithms),
        )
    except ArtifactTooLarge:
        raise BadRequest(413, TOO_LARGE) from None
    except MalformedBody as error:
        raise BadRequest(400, "400 (Bad request) the multipart body is malformed") from error
    fields = {name: value for name, value in items if isinstance(value, str)}
    uploads = [(name, value) for name, value in items if isinstance(value, Upload)]
    form = None
    for name, upload in uploads:
        if name == file_field and form is None:
            form = UploadedForm(fields, upload.filename, upload.file)
        else:
            upload.file.close()
    return form
