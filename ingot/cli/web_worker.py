"""Web worker: its application, its HTTP server and its event loop."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from functools import partial
from socket import socket
from typing import Any

import uvicorn

from ingot.core.http.connections import connection_limit, raise_descriptor_limit
from ingot.core.http.protocol import HeadLimitProtocol
from ingot.core.http.server import HttpServer
from ingot.core.log import Log, route_logging
from ingot.core.settings import Settings
from ingot.server.allocator import begin_collecting
from ingot.server.app import REQUEST_STATEMENT_SECONDS, App, open_database
from ingot.server.sockets import Application, SiteSockets, SocketRouter

_NO_SITES = SiteSockets()


def build_app(settings: Settings, *, whole_node: bool = False, only_sites: bool = False) -> App:
    """Build the application of a web worker; it opens no connection yet.

    On a machine that serves the ``whole_node``, readiness includes its own SSH server and jobs; those of other machines
    do not matter to one that serves ``only_sites``.
    """
    log = Log(settings.log_format)
    route_logging(log)
    database = open_database(settings, statement_seconds=REQUEST_STATEMENT_SECONDS, uses_replicas=True)
    roles = () if only_sites else ("jobs", "ssh")
    return App(settings, database, log, settings.metrics, roles=roles, whole_node=whole_node, only_sites=only_sites)


def serve(
    app: App,
    listeners: list[socket],
    lifeline: int | None = None,
    *,
    reports: bool = True,
    sites: SiteSockets = _NO_SITES,
) -> None:
    """Serve on open sockets until SIGTERM or until the supervisor exits."""
    with ExitStack() as stack:
        stack.callback(app.close)
        if app.only_sites:
            app.preload_sites()
        else:
            app.reconcile()
        if reports:
            stack.enter_context(app.heartbeat())
        front = front_with_sites(app, _front_with_profile(app), sites)
        server = http_server(front, app.settings, app.drain, app.expects_requests)
        server.secured = secured_sockets(app, sites)
        run_server(server, [*listeners, *sites.opened], lifeline)


def _front_with_profile(app: App) -> Application:
    """Return the application with the behaviour of the profile, which only temporary instances choose."""
    if app.settings.profile != "current":
        return app.front
    from ingot.server.test_control.current_profile import with_profile

    return with_profile(app.front, app.settings)


def front_with_sites(app: App, front: Application, sites: SiteSockets) -> Application:
    """Return the application of all sockets, which serves static sites on theirs."""
    return SocketRouter(front, lambda: app.sites_front, sites.ports) if sites.opened else front


def secured_sockets(app: App, sites: SiteSockets) -> dict[int, Any]:
    """Return the TLS contexts of sockets by their descriptors."""
    return {} if sites.https is None else {sites.https.fileno(): app.certificates.context}


def http_server(
    front: Any,
    settings: Settings,
    drain: Callable[[], None],
    expects_requests: Callable[[], bool],
    *,
    lingers: bool = True,
) -> HttpServer:
    """Build the HTTP server of an ASGI application."""
    protocol: Any = partial(HeadLimitProtocol, slow_reader_seconds=settings.slow_reader_seconds)
    config = uvicorn.Config(
        front,
        loop="uvloop",
        http=protocol,
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
    listeners: list[socket],
    lifeline: int | None = None,
    beside: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Run the event loop of a worker; ``beside`` is entered while the server runs."""

    async def main() -> None:
        if lifeline is not None:
            asyncio.get_running_loop().add_reader(lifeline, _stop, server, lifeline)
        async with beside or nullcontext():
            await server.serve(sockets=listeners)

    begin_collecting()
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(main())


def _stop(server: HttpServer, lifeline: int) -> None:
    """Stop without a supervisor: another server may start at once, and needs the port."""
    asyncio.get_running_loop().remove_reader(lifeline)
    server.stop(linger=False)
