"""A server of the runner protocol that assigns prepared jobs and records the calls, with faults on request."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "job-token-0123456789"


@dataclass
class RecordedJob:
    """A job and what the runner has sent for it."""

    payload: dict[str, Any]
    trace: bytes = b""
    updates: list[dict[str, Any]] = field(default_factory=list)
    uploads: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    archive: bytes | None = None
    """What a download of its artifacts returns."""
    status: Callable[[bytes], str] = lambda _: "running"
    """The header Job-Status, from the log so far."""
    lose_bytes_at: int | None = None
    """Forget the log from here on, once."""
    refuse_final_state: int | None = None
    """A status with which the first final state is refused."""
    upload_statuses: list[int] = field(default_factory=list)
    """Statuses of the next uploads; 201 when none is left."""

    @property
    def text(self) -> str:
        """Return the log."""
        return self.trace.decode()

    @property
    def final(self) -> dict[str, Any]:
        """Return the accepted final state."""
        return self.updates[-1]


class ProtocolServer:
    """Server for one test."""

    def __init__(self) -> None:
        self.jobs: dict[int, RecordedJob] = {}
        self.waiting: list[int] = []
        self.lock = threading.Lock()
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:  # The runner was stopped.
                    self.close_connection = True

            def _handle(self) -> None:
                body = self._body()
                headers = {name.lower(): value for name, value in self.headers.items()}
                with server.lock:
                    server.requests.append((self.command, self.path, headers, body))
                    status, fields, answer = server.respond(self.command, self.path, headers, body)
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = _handle  # noqa: N815 - Names of the standard library.

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                pieces = []
                while size := int(self.rfile.readline(), 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def log_message(self, *_: object) -> None:
                """Write no log."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def add(self, job: RecordedJob) -> RecordedJob:
        """Queue a job."""
        with self.lock:
            self.jobs[job.payload["id"]] = job
            self.waiting.append(job.payload["id"])
        return job

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def respond(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of a response."""
        path, _, query = path.removeprefix("/api/v4").partition("?")
        if path == "/jobs/request":
            if not self.waiting:
                return 204, {"X-GitLab-Last-Update": "1"}, b""
            return 201, {}, json.dumps(self.jobs[self.waiting.pop(0)].payload).encode()
        if path == "/runners":
            return 201, {}, b'{"id": 1, "token": "runner-token"}'
        if path == "/runners/verify":
            return 200, {}, b"{}"
        job = self.jobs[int(path.split("/")[2])]
        if path.endswith("/trace"):
            return self._append(job, headers, body)
        if path.endswith("/artifacts") and method == "GET":
            return (404, {}, b"") if job.archive is None else (200, {}, job.archive)
        if path.endswith("/artifacts"):
            job.uploads.append((dict(pair.split("=") for pair in query.split("&")), body))
            return (job.upload_statuses.pop(0) if job.upload_statuses else 201), {}, b"{}"
        return self._update(job, json.loads(body))

    def _append(self, job: RecordedJob, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        start = int(headers["content-range"].partition("-")[0])
        status = job.status(job.trace + body)
        fields = {"Job-Status": status, "X-GitLab-Trace-Update-Interval": "0.1"}
        if job.lose_bytes_at is not None and len(job.trace) > job.lose_bytes_at:
            job.trace, job.lose_bytes_at = job.trace[: job.lose_bytes_at], None
        if start != len(job.trace):
            return 416, {**fields, "Range": f"0-{len(job.trace)}"}, b""
        job.trace += body
        return 202, {**fields, "Range": f"0-{len(job.trace)}"}, b""

    def _update(self, job: RecordedJob, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if body["state"] != "running" and job.refuse_final_state is not None:
            status, job.refuse_final_state = job.refuse_final_state, None
            if status == 412:
                job.trace = b""
            return status, {"X-GitLab-Trace-Update-Interval": "0.1"}, b""
        job.updates.append(body)
        return 200, {"Job-Status": job.status(job.trace)}, b""
