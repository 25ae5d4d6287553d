"""Responses that are sent while they are produced, without holding them in memory."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Executor

from ingot.core.http.request import Header, Receive, Request, Send, Trace
from ingot.core.offload import Cancelled, cancellable


async def stream_response(
    request: Request,
    send: Send,
    trace: Trace,
    status: int,
    headers: list[Header],
    chunks: Iterator[bytes],
    pool: Executor,
) -> None:
    """Send every chunk, each produced in a thread of the pool.

    When the client disconnects, the production of the current chunk is cancelled and the iterator is closed.
    """
    loop = asyncio.get_running_loop()
    disconnected = asyncio.ensure_future(wait_for_disconnect(request.receive))
    cancelled = threading.Event()
    disconnected.add_done_callback(lambda _: cancelled.set())
    try:
        # Before the head, so that a failure of the first chunk can still be answered as an error.
        chunk = b"" if request.method == "HEAD" else await loop.run_in_executor(pool, _next_chunk, chunks, cancelled)
        trace.status = status
        trace.answered = True
        headers.append((b"x-request-id", trace.request_id.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while chunk and not disconnected.done():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            chunk = await loop.run_in_executor(pool, _next_chunk, chunks, cancelled)
        if not disconnected.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        disconnected.cancel()
        close = getattr(chunks, "close", None)
        if close is not None:
            await loop.run_in_executor(pool, close)


def _next_chunk(chunks: Iterator[bytes], cancelled: threading.Event) -> bytes:
    """Return the next chunk; an empty one at the end or if it is no longer needed."""
    with cancellable(cancelled.is_set):
        try:
            return next(chunks, b"")
        except Cancelled:
            return b""


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client disconnects, and ignore all data until then."""
    while (await receive())["type"] != "http.disconnect":
        pass
