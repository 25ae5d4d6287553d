"""``ingot serve``: run the whole server on one machine."""

import argparse
import fcntl
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

from ingot.cli.listeners import listen, listen_for_sites
from ingot.cli.options import (
    add_instance_options,
    add_listening_options,
    make_metrics_directory,
    prepare_instance,
    settings_from_arguments,
)
from ingot.cli.parent_watch import stop_with_parent
from ingot.cli.ready_report import add_ready_options, ready_report, write_report
from ingot.cli.temporary_server import (
    add_testing_options,
    is_single_process,
    require_valid_options,
    serve_temporary,
    temporary_settings,
)
from ingot.core.http.metrics import PROCESSES
from ingot.core.log import Log
from ingot.core.migrations.run import is_ready
from ingot.core.settings import InvalidSetting, Settings, url_host
from ingot.core.version import product_version
from ingot.server.permissions import exposed_paths, writable_directory
from ingot.server.supervisor import Supervisor, run_in_child_process
from ingot.transport.host_keys import host_keys

_WAIT_FOR_OTHER_SECONDS = 2.0
_POLL_SECONDS = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--ssh-port", metavar="S", type=int, help="port for git over SSH (default: 2222)")
    parser.add_argument("--workers", metavar="N", type=int, help="web workers (default: one per core)")
    parser.add_argument(
        "--runner",
        action="store_const",
        const=True,
        help="also execute CI jobs, in a shell on this machine; only for users whom you trust",
    )
    parser.add_argument(
        "--ephemeral",
        action="store_true",
        help="run as one process with a temporary data directory, removed at exit; SSH only with --ssh-port",
    )
    parser.add_argument(
        "--die-with-parent", action="store_true", help="stop when the process that started this one ends"
    )
    add_ready_options(parser)
    add_testing_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives."""
    if arguments.die_with_parent:
        stop_with_parent()
    if not (arguments.ephemeral or arguments.testing):
        settings = settings_from_arguments(arguments)
        require_valid_options(settings, arguments)
        _serve(settings, arguments)
        return
    # Until the supervisor installs its handlers, SIGTERM must still run the cleanup below.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = tempfile.mkdtemp(prefix="ingot-")
    try:
        settings = settings_from_arguments(arguments, data=folder)
        require_valid_options(settings, arguments)
        settings = temporary_settings(settings, arguments)
        if is_single_process(settings, arguments):
            serve_temporary(settings, arguments)
        else:
            _serve(settings, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(settings: Settings, arguments: argparse.Namespace) -> None:
    log = Log(settings.log_format)
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(f"The data directory cannot be created: {error}") from error
    _tighten_permissions(settings.data, log)
    lock = _lock_database(settings)
    listener = listen(settings.host, settings.port)
    ssh_listener = listen(settings.host, settings.ssh_port) if settings.ssh_server else None
    site_sockets = listen_for_sites(settings)
    # Imports produce hardly any garbage, and collecting it would take a tenth of the startup time.
    gc.disable()
    # Loaded before a first start too, because the child that initializes the instance needs the same modules.
    from ingot.cli import server_processes

    server_processes.load_modules()
    if not is_ready(settings) and run_in_child_process(partial(_prepare, settings)) != 0:
        sys.exit(1)
    shutil.rmtree(settings.metrics, ignore_errors=True)
    make_metrics_directory(settings)
    workers = settings.workers or os.cpu_count() or 1
    host, port = listener.getsockname()[:2]
    url = f"http://{url_host(host)}:{port}"
    settings = site_sockets.with_ports(replace(settings, port=port))
    if ssh_listener is not None:
        settings = replace(settings, ssh_port=ssh_listener.getsockname()[1])
    renderers, maintenance = server_processes.render_requests(), server_processes.maintenance_requests(settings)
    sockets = server_processes.ServerSockets(
        listener, ssh_listener, renderers.control, maintenance.control, site_sockets
    )
    children = server_processes.server_processes(settings, sockets, workers)
    gc.enable()
    (settings.run / "address").write_text(f"{url}\n")
    if site_sockets.http is not None:
        (settings.run / "pages_port").write_text(f"{settings.pages_port}\n")
    if ssh_listener is not None:
        (settings.run / "ssh_port").write_text(f"{settings.ssh_port}\n")
    listeners = [listener, *([] if ssh_listener is None else [ssh_listener]), *site_sockets.opened]
    supervisor = Supervisor(children, log, listeners, [renderers, maintenance], settings.metrics / PROCESSES)
    # Whoever reads the next line may stop the server at once.
    supervisor.handle_signals()
    log(
        "serving", version=product_version(), url=settings.external_url or url, data=str(settings.data), workers=workers
    )
    write_report(arguments, ready_report(settings, url, serves_ssh=ssh_listener is not None))
    supervisor.run()
    del lock


def _prepare(settings: Settings) -> None:
    """Initialize or migrate the instance, and create the host keys here: the libraries for it take 13 MB of memory."""
    prepare_instance(settings)
    if settings.ssh_server:
        host_keys(settings.data)


def _tighten_permissions(data: Path, log: Log) -> None:
    """Remove access of other users to the files in the data directory; the doctor would report it."""
    writable = writable_directory(data)
    if writable is not None:
        log("permissions", problem=writable.problem)
    for exposed in exposed_paths(data):
        try:
            exposed.tighten()
        except OSError as error:
            log("permissions", problem=exposed.problem, error=error.strerror)


def _lock_database(settings: Settings) -> IO[bytes] | None:
    """Lock the embedded database against other servers; wait shortly for one that was just killed."""
    if not settings.embedded:
        return None
    lock = (settings.data / ".serving").open("ab")
    deadline = time.monotonic() + _WAIT_FOR_OTHER_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                sys.exit(f"ingot: another server is running on {settings.data}; stop it first, or use another --data")
            time.sleep(_POLL_SECONDS)
        else:
            return lock
