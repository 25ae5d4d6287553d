"""Upload of an archive to the server that a user named, such as a bucket with a presigned URL."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from ingot.core.outgoing.client import BodyStream, PinnedConnection
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.exports.params import UploadTarget

TIMEOUT_SECONDS = 3600.0
_MAX_RESPONSE_BYTES = 64 * 1024


def upload_archive(
    target: UploadTarget, guard: SsrfGuard, size: int, pieces: Callable[[int, int], Iterator[bytes]]
) -> str | None:
    """Send an archive; return None, or the reason of a failure."""
    try:
        status = asyncio.run(_send(target, guard, size, pieces))
    except (RequestRefused, RequestFailed) as error:
        return f"The upload failed: {error.reason}"
    except TimeoutError:  # Shown as the reason of the failed export.
        return "The upload failed: The server took too long"
    return None if 200 <= status < 300 else f"The upload failed: The server answered with status {status}"


async def _send(
    target: UploadTarget, guard: SsrfGuard, size: int, pieces: Callable[[int, int], Iterator[bytes]]
) -> int:
    headers = [("Content-Type", "application/gzip")]
    async with asyncio.timeout(TIMEOUT_SECONDS):
        connection = await PinnedConnection.open(await asyncio.to_thread(guard.pin, target.url))
        try:
            body = BodyStream(size, _read(pieces(0, size)))
            response = await connection.request(target.http_method, headers, body, max_bytes=_MAX_RESPONSE_BYTES)
        finally:
            await connection.close()
    return response.status


async def _read(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    # The loop serves this upload alone, so it may wait for the disk.
    for piece in pieces:
        yield piece
