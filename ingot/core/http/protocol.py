"""uvicorn's HTTP protocol with limits for the head of a request, and a minimum rate at which clients read responses.

The parser concatenates the parts of a header as they arrive, which takes quadratic time for a large one, so the bytes
are counted here before they add up.
"""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ingot.core.http.joined_writes import JoinedWrites
from ingot.core.http.transfer_rate import MIN_BYTES_PER_SECOND, READ_WINDOW_SECONDS, unsent_bytes

HEADER_TIMEOUT_SECONDS = 30.0
REFUSAL_TIMEOUT_SECONDS = 5.0
LINGER_SECONDS = 2.0
"""Time in which a rejected client may read the response; closed at once, a client that still sends would lose it."""
MAX_LINE_BYTES = 16 * 1024
MAX_HEAD_BYTES = 64 * 1024
MAX_HEADERS = 200
TRANSPORT_EXTENSION = "ingot.transport"
"""Key of the connection in the extensions of a request, for servers that inject faults."""
_SEPARATORS = len(": \r\n")
_TOO_LONG = 414, "414 Request-URI Too Long"
_TOO_LARGE = 431, "431 Request Header Fields Too Large"
_MALFORMED = 400, "400 (Bad request) the request is malformed"


class _HeadRejected(Exception):
    """Stops the parser within a callback."""


class HeadLimitProtocol(HttpToolsProtocol):
    """HTTP protocol that rejects large request heads and closes connections whose clients send or read too slowly."""

    _refusing = False
    _reader_check: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, slow_reader_seconds: float = READ_WINDOW_SECONDS, **options: Any) -> None:
        super().__init__(*args, **options)
        self._slow_reader_seconds = slow_reader_seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # As uvicorn has it.
        """Start the timeout of the first request."""
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type] # It acts like one.
        self._idle_since = self.loop.time()
        self.url = b""
        self._received_bytes = 0
        self._unparsed_bytes = 0
        self._advanced = False
        self._in_body = False
        self._rejection = _MALFORMED
        self._rejected = False
        self._head_timeout = self._start_timeout()

    def refuse_requests(self, app: Any) -> None:
        """Pass the request to an application that refuses it; called before the connection is made."""
        self.app = app
        self._refusing = True

    def data_received(self, data: bytes) -> None:
        """Parse data; reject the request if too much arrives without completing a head or a part of a body."""
        while not self._rejected and len(data) > MAX_LINE_BYTES and not self._in_body:
            self._parse(data[:MAX_LINE_BYTES])
            data = data[MAX_LINE_BYTES:]
        if not self._rejected:
            self._parse(data)
        if self.cycle is not None and self.cycle.response_complete and self._head_timeout.cancelled():
            # Data between requests, such as line breaks or the rest of a body that was not read, has ended uvicorn's
            # timeout of idle connections.
            self._restart_timeout()

    def _parse(self, data: bytes) -> None:
        self._advanced = False
        self._received_bytes += len(data)
        super().data_received(data)
        self._unparsed_bytes = 0 if self._advanced else self._unparsed_bytes + len(data)
        if (self._unparsed_bytes > MAX_HEAD_BYTES or len(self.url) > MAX_LINE_BYTES) and not self._rejected:
            self._reject()
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Restart the timeout: a later request on the connection has as much time as the first one."""
        self._advanced = True
        self._received_bytes = 0
        self._restart_timeout()
        if not self.flow.write_paused:  # What is sent from now on is not due yet.
            self._end_reader_check()
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT_EXTENSION: {"transport": self.transport}}

    def on_headers_complete(self) -> None:
        """Check the limits and stop the timeout; the component that reads the body limits its duration."""
        # A head that fits into one piece of data has no line above the limit.
        if len(self.headers) > MAX_HEADERS or (self._received_bytes and self._has_large_line()):
            self._reject()
            raise _HeadRejected
        self._advanced = self._in_body = True
        self._head_timeout.cancel()
        super().on_headers_complete()
        # Trailers of a chunked body are collected here and ignored: as headers, they would pass for those that a proxy
        # has checked.
        self.headers = []

    def _reject(self) -> None:
        self._rejection = _TOO_LONG if len(self.url) > MAX_LINE_BYTES else _TOO_LARGE

    def _has_large_line(self) -> bool:
        sizes = [len(name) + len(value) + _SEPARATORS for name, value in self.headers]
        lines = [len(self.url), *sizes]
        return max(lines) > MAX_LINE_BYTES or sum(lines) > MAX_HEAD_BYTES

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on."""
        self._advanced = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._advanced = True
        self._in_body = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text; the parser's errors have no details.
        """Respond to a request that cannot be parsed or exceeds a limit, and close the connection."""
        self._rejected = True
        self._head_timeout.cancel()
        status, message = self._rejection
        responding = self._is_responding()
        if not (responding and self.cycle.response_started):
            body = json.dumps({"message": message}).encode()
            head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
            self.transport.write(STATUS_LINE[status] + head + body)
        if responding or not self.transport.can_write_eof():
            self.transport.close()
            return
        self.transport.write_eof()
        self.flow.resume_reading()
        self._head_timeout = self.loop.call_later(LINGER_SECONDS, self._close)

    def on_response_complete(self) -> None:
        """Note when the connection became idle."""
        self._idle_since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing():
            self._check_reader_later()

    def idle_seconds(self) -> float:
        """Return the time since the connection was opened or the last response ended; 0 during a request."""
        return 0.0 if self._is_responding() else self.loop.time() - self._idle_since

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts."""
        self._head_timeout.cancel()
        self._end_reader_check()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to check whether the client reads; the response waits until it has read most of what is buffered."""
        super().pause_writing()
        self._check_reader_later()

    def resume_writing(self) -> None:
        """Continue the response."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._end_reader_check()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._check_reader_later()

    def _check_reader_later(self) -> None:
        self._end_reader_check()
        unread = unsent_bytes(self.transport)
        self._reader_check = self.loop.call_later(self._slow_reader_seconds, self._check_reader, unread)

    def _check_reader(self, unread_before: int) -> None:
        """Abort the connection of a slow client; nothing was added to the buffer since the timer was started."""
        unread = unsent_bytes(self.transport)
        if unread and unread_before - unread < MIN_BYTES_PER_SECOND * self._slow_reader_seconds:
            self.transport.abort()
        elif unread:
            self._check_reader_later()

    def _end_reader_check(self) -> None:
        if self._reader_check is not None:
            self._reader_check.cancel()

    def _restart_timeout(self) -> None:
        self._head_timeout.cancel()
        self._head_timeout = self._start_timeout()

    def _start_timeout(self) -> asyncio.TimerHandle:
        seconds = REFUSAL_TIMEOUT_SECONDS if self._refusing else HEADER_TIMEOUT_SECONDS
        return self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        if self._is_responding():
            self._restart_timeout()  # The response to the request before this one is still being sent.
        else:
            self._close()

    def _is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
            self._check_reader_later()
