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
from importlib import import_module
from pathlib import Path
from socket import socket
from typing import IO, NamedTuple

from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.core.markup.render_pool import POOL
from ingot.core.markup.render_process import run_renderer
from ingot.core.migrations.run import is_ready
from ingot.log import Log
from ingot.operations.permissions import exposed_paths, writable_directory
from ingot.operations.supervisor import ForkRequests, SupervisedProcess, Supervisor, open_socket, run_in_child_process
from ingot.settings import InvalidSetting, Settings

_WAIT_FOR_OTHER_SECONDS = 2.0
_POLL_SECONDS = 0.05
_BACKGROUND_CACHE_SHARE = 1 / 8
"""Share of the cache budget for SSH and jobs, which cache little."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--ssh-port", metavar="S", type=int, help="port for git over SSH (default: 2222)")
    parser.add_argument("--workers", metavar="N", type=int, help="web workers (default: one per core)")
    parser.add_argument("--ephemeral", action="store_true", help="use a temporary data directory, removed at exit")


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal arrives."""
    if not arguments.ephemeral:
        _serve(settings_from_arguments(arguments))
        return
    # Until the supervisor installs its handlers, SIGTERM must still run the cleanup below.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = tempfile.mkdtemp(prefix="ingot-")
    try:
        _serve(settings_from_arguments(arguments, data=folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(settings: Settings) -> None:
    log = Log(settings.log_format)
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(f"The data directory cannot be created: {error}") from error
    _tighten_permissions(settings.data, log)
    lock = _lock_database(settings)
    listener = _listen(settings.host, settings.port)
    ssh_listener = _listen(settings.host, settings.ssh_port) if settings.ssh_server else None
    # Preloaded before a first start too, because the child that initializes the instance needs the same modules.
    _preload_modules()
    if not is_ready(settings) and run_in_child_process(partial(prepare_instance, settings)) != 0:
        sys.exit(1)
    metrics = settings.data / "run" / "metrics"
    shutil.rmtree(metrics, ignore_errors=True)
    # Separately, because the mode of parents cannot be given.
    metrics.parent.mkdir(mode=0o700, exist_ok=True)
    metrics.mkdir(mode=0o700)
    workers = settings.workers or os.cpu_count() or 1
    host, port = listener.getsockname()[:2]
    settings = replace(settings, port=port)
    if ssh_listener is not None:
        settings = replace(settings, ssh_port=ssh_listener.getsockname()[1])
    forking = ForkRequests(run_renderer)
    sockets = _Sockets(listener, ssh_listener, forking.control)
    children = _background_processes(settings, sockets)
    web_settings = _with_cache_share(settings, (1 - _BACKGROUND_CACHE_SHARE) / workers)
    children += [
        SupervisedProcess(f"web-{number}", partial(_run_web, web_settings, sockets, metrics))
        for number in range(workers)
    ]
    (settings.data / "run" / "address").write_text(f"http://{host}:{port}\n")
    if ssh_listener is not None:
        (settings.data / "run" / "ssh_port").write_text(f"{settings.ssh_port}\n")
    log("serving", url=settings.external_url or f"http://{host}:{port}", data=str(settings.data), workers=workers)
    Supervisor(children, log, [listener] if ssh_listener is None else [listener, ssh_listener], forking).run()
    del lock


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


def _preload_modules() -> None:
    """Import the children's modules before forking: they share the memory and start sooner."""
    # Imports produce hardly any garbage, and collecting it would take a tenth of the startup time.
    gc.disable()
    for name in ("ingot.cli.jobs", "ingot.cli.web", "uvicorn.loops.uvloop"):
        import_module(name)
    from ingot.app import api_router
    from ingot.core.markup.render_server import load_libraries
    from ingot.web.template_environment import compile_templates

    api_router()
    load_libraries()
    compile_templates()
    gc.freeze()
    gc.enable()


def _listen(host: str, port: int) -> socket:
    try:
        return open_socket(host, port)
    except OSError as error:
        sys.exit(f"ingot: cannot listen on {host}:{port}: {error.strerror}")


class _Sockets(NamedTuple):
    """Sockets that the supervisor opens and its children use."""

    http: socket
    ssh: socket | None
    forks: socket
    """For requests to fork rendering processes."""


def _background_processes(settings: Settings, sockets: _Sockets) -> list[SupervisedProcess]:
    """Return the processes of SSH and jobs."""
    share = _BACKGROUND_CACHE_SHARE
    if not settings.separate_jobs:
        background = _with_cache_share(settings, share)
        return [SupervisedProcess("ssh+jobs", partial(_run_background, background, sockets))]
    settings = _with_cache_share(settings, share / 2)
    return [
        SupervisedProcess("ssh", partial(_run_ssh, settings, sockets)),
        SupervisedProcess("jobs", partial(_run_jobs, settings, sockets)),
    ]


def _with_cache_share(settings: Settings, share: float) -> Settings:
    """Return the settings of a process that uses a share of the server's cache budget."""
    return replace(settings, cache_mb=max(1, round(settings.cache_mb * share)))


def _run_web(settings: Settings, sockets: _Sockets, metrics: Path, lifeline: int) -> None:
    from ingot.cli.web import serve

    _close(sockets.ssh)
    POOL.use_fork_server(sockets.forks)
    serve(settings, sockets.http, metrics, lifeline)


def _run_background(settings: Settings, sockets: _Sockets, lifeline: int) -> None:
    from ingot.cli.background import serve

    _close(sockets.http)
    POOL.use_fork_server(sockets.forks)
    serve(settings, sockets.ssh, lifeline)


def _run_ssh(settings: Settings, sockets: _Sockets, lifeline: int) -> None:
    from ingot.cli.ssh import serve

    _close(sockets.http)
    serve(settings, sockets.ssh, lifeline)


def _run_jobs(settings: Settings, sockets: _Sockets, lifeline: int) -> None:
    from ingot.cli.jobs import serve

    _close(sockets.http)
    _close(sockets.ssh)
    POOL.use_fork_server(sockets.forks)
    serve(settings, lifeline)


def _close(listener: socket | None) -> None:
    if listener is not None:
        listener.close()
