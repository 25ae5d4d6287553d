"""Real git server over HTTP on loopback: git's http-backend as CGI, with optional passwords and redirects."""

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


class GitServer(ThreadingHTTPServer):
    """Server of the bare repositories below a folder, which records its requests."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.password: tuple[str, str] | None = None
        self.redirects: dict[str, tuple[int, str]] = {}
        """From the beginning of a path to a status and a Location, into which the rest of the path is put."""
        self.asked: list[tuple[str, str | None, str | None]] = []
        """Path, Host and Authorization of each request."""
        self.while_asked: Callable[[], object] = lambda: None
        """What to do while somebody waits for an answer."""

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Return the URL of a repository."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[Any]:
    """Run until the block ends."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.server.asked.append((self.path, self.headers["Host"], self.headers["Authorization"]))
        self.server.while_asked()
        for start, (status, location) in self.server.redirects.items():
            if self.path.startswith(start):
                self.send_response(status)
                self.send_header("Location", location.replace("{rest}", self.path.removeprefix(start)))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        if self.server.password is not None:
            expected = base64.b64encode(":".join(self.server.password).encode()).decode()
            if self.headers["Authorization"] != f"Basic {expected}":
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self._backend()

    def _backend(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/dev/null",
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": "127.0.0.1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(
            ["git", "http-backend"],
            env=environment,
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self.send_response(status)
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
