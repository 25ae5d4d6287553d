"""``ingot web``: run one web worker or several."""

import argparse
import gc
from dataclasses import replace

from ingot.cli.listeners import listen, listen_for_sites
from ingot.cli.options import (
    add_instance_options,
    add_listening_options,
    make_metrics_directory,
    prepare_instance,
    settings_from_arguments,
)
from ingot.cli.web_worker import build_app, serve
from ingot.core.http.metrics import PROCESSES
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.supervisor import Supervisor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--workers", metavar="N", type=int, help="worker processes (default: 1)")


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives; several machines may serve the same database."""
    serve_workers(settings_from_arguments(arguments))


def serve_workers(settings: Settings, *, only_sites: bool = False) -> None:
    """Run the web workers of a machine, which may serve only static sites."""
    listener = listen(settings.host, settings.port)
    sites = listen_for_sites(settings)
    settings = sites.with_ports(replace(settings, port=listener.getsockname()[1]))
    prepare_instance(settings, announce=not only_sites)
    make_metrics_directory(settings)
    if settings.workers <= 1:
        serve(build_app(settings, only_sites=only_sites), [listener], sites=sites)
        return
    from ingot.cli.server_processes import ServerSockets, render_requests, web_processes

    worker_settings = replace(settings, cache_mb=max(1, settings.cache_mb // settings.workers))
    app = build_app(worker_settings, only_sites=only_sites)
    gc.freeze()
    fork_requests = render_requests()
    children = web_processes(app, ServerSockets(listener, None, fork_requests.control, None, sites), settings.workers)
    listeners = [listener, *sites.opened]
    log, processes = Log(settings.log_format), settings.metrics / PROCESSES
    supervisor = Supervisor(children, log, listeners, [fork_requests], processes)
    supervisor.handle_signals()
    supervisor.run()
