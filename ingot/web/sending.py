"""Sending a file from the disk without holding it in memory."""

import asyncio
from concurrent.futures import Executor

from ingot.http.request import Header, Receive, Request, Send, Trace
from ingot.web.pages import StoredFile

_PIECE = 256 * 1024


async def send_file(
    request: Request, send: Send, trace: Trace, headers: list[Header], stored: StoredFile, pool: Executor
) -> None:
    """Send the whole file, or stop when the caller has gone; the disk is read in another thread."""
    trace.status = 200
    trace.answered = True
    headers += [(b"x-request-id", trace.request_id.encode()), (b"content-length", b"%d" % stored.size)]
    gone = asyncio.ensure_future(_until_gone(request.receive))
    loop = asyncio.get_running_loop()
    left = 0 if request.method == "HEAD" else stored.size
    try:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while left > 0 and not gone.done():
            piece = await loop.run_in_executor(pool, stored.file.read, min(_PIECE, left))
            if not piece:  # Stored files never shrink; the caller sees that the answer is not whole.
                break
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        stored.file.close()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
