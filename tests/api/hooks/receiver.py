"""Receiver of webhooks on loopback: stores requests and sends the responses that a test configures."""

import json
import queue
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

DEADLINE_SECONDS = 60.0


class Got(NamedTuple):
    """Request of a delivery."""

    path: str
    headers: dict[str, str]
    raw: bytes
    method: str

    @property
    def body(self) -> Any:
        """Return the decoded JSON payload."""
        return json.loads(self.raw)


class Answer(NamedTuple):
    """Response of the receiver."""

    status: int = 200
    body: bytes = b"ok"
    headers: tuple[tuple[str, str], ...] = ()


class Receiver:
    """Server that runs until it is closed; each path has its own responses, of which the last one repeats."""

    def __init__(self, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.got: queue.Queue[Got] = queue.Queue()
        self.answers: dict[str, list[Answer | Callable[[BaseHTTPRequestHandler], None]]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer._answer(self)

            def do_GET(self) -> None:
                outer._answer(self)

            def do_PUT(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path: str = "/") -> str:
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def next(self) -> Got:
        """Return the next request, which must arrive soon."""
        return self.got.get(timeout=DEADLINE_SECONDS)

    def some(self, count: int) -> list[Got]:
        """Return the next requests."""
        return [self.next() for _ in range(count)]

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        answers = self.answers.get(handler.path) or [Answer()]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.got.put(Got(handler.path, headers, body, handler.command))
        if not isinstance(answer, Answer):
            answer(handler)
            return
        handler.send_response(answer.status)
        for name, value in answer.headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)
