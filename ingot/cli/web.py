"""``ingot web``: run one web worker."""

import argparse
import asyncio
import gc
import logging
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import uvicorn

from ingot.app import REQUEST_STATEMENT_SECONDS, App, open_database
from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.core.http.connections import connection_limit, raise_descriptor_limit
from ingot.core.http.protocol import HeadLimitProtocol
from ingot.core.http.server import HttpServer
from ingot.log import Log, route_logging
from ingot.operations.supervisor import open_socket
from ingot.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    add_listening_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives; several machines may serve the same database."""
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    metrics = settings.data / "run" / f"metrics-{os.uname().nodename}"
    metrics.parent.mkdir(mode=0o700, exist_ok=True)
    metrics.mkdir(mode=0o700, exist_ok=True)
    serve(build_app(settings, metrics), open_socket(settings.host, settings.port))


def build_app(settings: Settings, metrics: Path | None) -> App:
    """Build the application of a web worker; it opens no connection yet."""
    log = Log(settings.log_format)
    route_logging(log)
    return App(settings, open_database(settings, statement_seconds=REQUEST_STATEMENT_SECONDS), log, metrics)


def serve(app: App, listener: Any, lifeline: int | None = None) -> None:
    """Serve on an open socket until SIGTERM or until the supervisor exits."""
    try:
        app.reconcile()
        server = http_server(app.front, app.drain, app.expects_requests)
        run_server(server, listener, lifeline)
    finally:
        app.close()


def http_server(
    front: Any, drain: Callable[[], None], expects_requests: Callable[[], bool], *, lingers: bool = True
) -> HttpServer:
    """Build the HTTP server of an ASGI application."""
    config = uvicorn.Config(
        front,
        loop="uvloop",
        http=HeadLimitProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    limit = connection_limit(raise_descriptor_limit())
    return HttpServer(config, limit, drain, expects_requests, lingers=lingers)


def run_server(
    server: HttpServer,
    listener: Any,
    lifeline: int | None = None,
    beside: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Run the event loop of a worker; ``beside`` is entered while the server runs."""

    async def main() -> None:
        if lifeline is not None:
            asyncio.get_running_loop().add_reader(lifeline, _stop, server, lifeline)
        async with beside or nullcontext():
            await server.serve(sockets=[listener])

    # Objects created so far live until exit; exclude them from garbage collection.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(main())


def _stop(server: HttpServer, lifeline: int) -> None:
    """Stop without a supervisor: another server may start at once, and needs the port."""
    asyncio.get_running_loop().remove_reader(lifeline)
    server.stop(linger=False)
