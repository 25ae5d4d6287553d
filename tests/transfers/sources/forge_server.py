"""Small HTTP server that responds like the REST API of another forge, from documents in memory."""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

Headers = dict[str, str]
Failure = tuple[int, Headers]


class ForgeServer:
    """Documents by path, the requests received, and the failures of the next requests."""

    def __init__(self, size_parameter: str) -> None:
        self.documents: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[tuple[str, Headers]] = []
        self.answers: dict[str, tuple[int, Headers, bytes]] = {}
        """Responses to all requests of a path."""
        self.failures: list[Failure] = []
        """Responses to the next requests instead of documents."""
        self.quota: int | None = None
        """Number of requests that are still accepted, if it is limited."""
        self.listed: Callable[[str, dict[str, str], list[Any]], list[Any]] = lambda _path, _query, entries: entries
        """Filter of a list by the query parameters."""
        self.page_limit = 100
        """Largest page that is served."""
        self.repositories: Path | None = None
        """Folder of bare repositories, which are served by git itself."""
        self.size_parameter = size_parameter
        self.disposition: str | None = None
        """Header with the names of files."""
        self.url = ""

    def respond(self, target: str, headers: Headers) -> tuple[int, Headers, bytes]:
        """Return status, headers and body of a response."""
        self.requests.append((target, headers))
        parts = urlsplit(target)
        limits = {}
        if self.quota is not None:
            self.quota -= 1
            limits = {"X-RateLimit-Remaining": str(max(self.quota, 0)), "X-RateLimit-Reset": "1"}
        if parts.path in self.answers:
            return self.answers[parts.path]
        if self.failures:
            status, sent = self.failures.pop(0)
            return status, sent | limits, b"{}"
        if parts.path in self.redirects:
            return 302, {"Location": self.redirects[parts.path]}, b""
        if parts.path in self.files:
            return 200, self._file_headers(), self.files[parts.path]
        if parts.path not in self.documents:
            return 404, limits, b'{"message": "Not Found"}'
        document = self.documents[parts.path]
        if isinstance(document, list):
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            document, links = self._page(parts.path, query, self.listed(parts.path, query, document))
            limits |= links
        return 200, {"Content-Type": "application/json"} | limits, json.dumps(document).encode()

    def _file_headers(self) -> Headers:
        named = {"Content-Disposition": self.disposition} if self.disposition else {}
        return {"Content-Type": "application/octet-stream", **named}

    def _page(self, path: str, query: dict[str, str], entries: list[Any]) -> tuple[list[Any], Headers]:
        number, size = int(query.get("page", 1)), min(int(query.get(self.size_parameter, 30)), self.page_limit)
        last = max(1, -(-len(entries) // size))

        def link(page: int, rel: str) -> str:
            return f'<{self.url}{path}?{urlencode({**query, "page": page})}>; rel="{rel}"'

        links = [link(number + 1, "next"), link(last, "last")] if number < last else []
        headers = {"Link": ", ".join(links)} if links else {}
        return entries[(number - 1) * size : number * size], headers


@contextmanager
def serving(size_parameter: str = "per_page") -> Iterator[ForgeServer]:
    """Run a server for the duration of a block."""
    forge = ForgeServer(size_parameter)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body in one packet; two would wait for the client's acknowledgement.

        def do_GET(self) -> None:
            answered = urlsplit(self.path).path in forge.answers
            if forge.repositories is not None and ".git/" in self.path and not answered:
                self._serve_git(b"")
                return
            status, headers, body = forge.respond(
                self.path, {name.lower(): value for name, value in self.headers.items()}
            )
            if status == 0:
                self.close_connection = True  # A cut connection.
                return
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self._serve_git(self.rfile.read(int(self.headers["Content-Length"])))

        def _serve_git(self, body: bytes) -> None:
            parts = urlsplit(self.path)
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(forge.repositories),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            }
            command = ["git", "-c", "safe.directory=*", "http-backend"]
            answer = subprocess.run(command, input=body, env=environment, capture_output=True, check=True).stdout
            head, _, content = answer.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Ignore connections that the client dropped."""

    server = Server(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
