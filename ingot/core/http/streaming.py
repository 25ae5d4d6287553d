"""Sending an answer while it is made, without holding it in memory."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor

from ingot.core.http.request import Header, Receive, Request, Send, Trace

SEND_SECONDS = 120.0
"""For one piece: a caller that stops reading must not keep a process and a place for ever."""


async def stream_response(
    request: Request,
    send: Send,
    trace: Trace,
    status: int,
    headers: list[Header],
    pieces: Iterator[bytes],
    pool: Executor,
) -> None:
    """Send every piece, each made in another thread, or stop when the caller has gone."""
    loop = asyncio.get_running_loop()
    gone = asyncio.ensure_future(wait_for_disconnect(request.receive))
    try:
        # Before the head: what cannot even begin is still answered as an error.
        piece = b"" if request.method == "HEAD" else await loop.run_in_executor(pool, next, pieces, b"")
        trace.status = status
        trace.answered = True
        headers.append((b"x-request-id", trace.request_id.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while piece and not gone.done():
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            except TimeoutError:
                return
            piece = await loop.run_in_executor(pool, next, pieces, b"")
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        close = getattr(pieces, "close", None)
        if close is not None:
            await loop.run_in_executor(pool, close)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the caller has gone; whatever else they send is thrown away."""
    while (await receive())["type"] != "http.disconnect":
        pass
