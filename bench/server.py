"""Servers under measurement: a bare ASGI response (F0), and the app with an endpoint of the same bytes (F1)."""

import asyncio
import hashlib
import os
import sys
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import uvicorn
from sqlalchemy import Column, Integer, MetaData, Table, Text, text

from bench.packages import FILE_BYTES
from ingot.cli.web_worker import http_server, run_server
from ingot.core.access.rules import anyone
from ingot.core.api.request_fields import read_body
from ingot.core.api.route_table import imported_table
from ingot.core.api.routes import BodyContext, Call, RawResponse, Routes, StreamedResponse
from ingot.core.http.protocol import HeadLimitProtocol
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.core.storage.drivers import CHUNK_BYTES
from ingot.packages.files.uploads import write_pieces
from ingot.server.app import App, open_database
from ingot.server.registry import all_endpoints
from ingot.server.supervisor import open_socket

BODY = b'{"id":1,"username":"somebody","name":"Some Body","state":"active"}' * 10
routes = Routes("bench")
ROWS = Table("bench_rows", MetaData(), Column("id", Integer, primary_key=True), Column("at", Text, nullable=False))


@routes.get("/bench", may=anyone, returns=RawResponse)
def constant(call: Call) -> RawResponse:
    """Return the same bytes as the bare server."""
    return RawResponse(BODY, "application/json")


@routes.post("/bench", may=anyone, returns=RawResponse)
def insert_one_row(call: Call) -> RawResponse:
    """Insert one row and return the same bytes."""
    call.db.insert(ROWS, at=call.db.now)
    return RawResponse(BODY, "application/json")


class _DigestWriter:
    """Computes the digest of a body, as an upload must."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        """Add bytes."""
        self._digest.update(piece)
        return len(piece)


async def _discard(context: BodyContext) -> None:
    """Read a body without storing it."""
    context.charge.anonymous = False
    await write_pieces(_DigestWriter(), read_body(context.receive, context.headers, 2**40, streamed=True))


@routes.post("/bench/transfer", may=anyone, returns=RawResponse, read_body=_discard)
def receive_content(call: Call, received: None) -> RawResponse:
    """Receive a body."""
    return RawResponse(b"")


@routes.get("/bench/transfer", may=anyone, returns=StreamedResponse)
def send_content(call: Call) -> StreamedResponse:
    """Send as many bytes as a large package has."""
    pieces = FILE_BYTES // CHUNK_BYTES
    return StreamedResponse(repeat(bytes(CHUNK_BYTES), pieces), "application/octet-stream", length=pieces * CHUNK_BYTES)


async def bare(scope, receive, send):  # type: ignore[no-untyped-def] # The types of ASGI are Any in all three places.
    """Respond with constant bytes (F0, the upper bound)."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


def serve(kind: str, data: Path, url: str) -> None:
    """Serve on a free port, and print it."""
    listener = open_socket("127.0.0.1", 0)
    print(listener.getsockname()[1], flush=True)
    if kind == "bare":
        config = uvicorn.Config(
            bare,
            loop="uvloop",
            http=HeadLimitProtocol,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
        )
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(uvicorn.Server(config).serve(sockets=[listener]))
        return
    settings = Settings(data=data, database_url=url, log_format="json")
    if kind == "runners":  # Polls are answered at once, and traces may be long.
        settings = replace(settings, runner_poll_seconds=0, max_trace_mb=1024)
    metrics = data / "run" / "metrics"
    metrics.mkdir(parents=True, exist_ok=True)
    log = Log("json", Path(os.devnull).open("w"))
    database = open_database(settings)
    database.write(lambda db: db.run(text("CREATE TABLE IF NOT EXISTS bench_rows (id INTEGER PRIMARY KEY, at TEXT)")))
    app = App(settings, database, log, metrics, imported_table(all_endpoints() + routes.endpoints))
    run_server(http_server(app.front, app.settings, app.drain, app.expects_requests), [listener])


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
