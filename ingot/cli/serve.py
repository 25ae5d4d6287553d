"""``ingot serve``: the whole server on one machine."""

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
from typing import IO

from ingot.cli.options import add_instance_options, add_listening_options, prepare_instance, settings_from_arguments
from ingot.core.migrations.run import is_ready
from ingot.log import Log
from ingot.operations.supervisor import SupervisedProcess, Supervisor, open_socket, run_in_child_process
from ingot.settings import InvalidSetting, Settings

_WAIT_FOR_OTHER_SECONDS = 2.0
_POLL_SECONDS = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_instance_options(parser)
    add_listening_options(parser)
    parser.add_argument("--ssh-port", metavar="S", type=int, help="port for git over SSH (default: 2222)")
    parser.add_argument("--workers", metavar="N", type=int, help="web workers (default: one per core)")
    parser.add_argument("--ephemeral", action="store_true", help="serve from a temporary directory, removed at the end")


def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal."""
    if not arguments.ephemeral:
        _serve(settings_from_arguments(arguments))
        return
    # Until the supervisor answers it, a signal must still let the directory be removed.
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
        raise InvalidSetting(f"The data directory cannot be made: {error}") from error
    lock = _lock_database(settings)
    listener, ssh_listener = (_listen(settings.host, port) for port in (settings.port, settings.ssh_port))
    # Before a first start too: what makes the instance ready needs the same, and is a child as well.
    _preload_modules()
    if not is_ready(settings) and run_in_child_process(partial(prepare_instance, settings)) != 0:
        sys.exit(1)
    metrics = settings.data / "run" / "metrics"
    shutil.rmtree(metrics, ignore_errors=True)
    metrics.mkdir(mode=0o700, parents=True)
    workers = settings.workers or os.cpu_count() or 1
    host, port = listener.getsockname()[:2]
    settings = replace(settings, port=port, ssh_port=ssh_listener.getsockname()[1])
    children = [
        SupervisedProcess("ssh", partial(_run_ssh, settings, listener, ssh_listener)),
        SupervisedProcess("jobs", partial(_run_jobs, settings, listener, ssh_listener)),
    ]
    children += [
        SupervisedProcess(f"web-{number}", partial(_run_web, settings, listener, ssh_listener, metrics))
        for number in range(workers)
    ]
    (settings.data / "run" / "address").write_text(f"http://{host}:{port}\n")
    (settings.data / "run" / "ssh_port").write_text(f"{settings.ssh_port}\n")
    log("serving", url=settings.external_url or f"http://{host}:{port}", data=str(settings.data), workers=workers)
    Supervisor(children, log, [listener, ssh_listener]).run()
    del lock


def _lock_database(settings: Settings) -> IO[bytes] | None:
    """Make sure that no other server uses the same embedded database; one that was killed just now may still end."""
    if not settings.embedded:
        return None
    lock = (settings.data / ".serving").open("ab")
    patience = time.monotonic() + _WAIT_FOR_OTHER_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > patience:
                sys.exit(f"ingot: another server is running on {settings.data}; stop it first, or use another --data")
            time.sleep(_POLL_SECONDS)
        else:
            return lock


def _preload_modules() -> None:
    """Load once what the children would each load for themselves; they share its memory, and start sooner."""
    # To look through it for garbage, of which there is next to none, would take a tenth of the whole start.
    gc.disable()
    for name in ("ingot.cli.jobs", "ingot.cli.web", "uvicorn.loops.uvloop"):
        import_module(name)
    from ingot.app import api_router

    api_router()
    gc.freeze()
    gc.enable()


def _listen(host: str, port: int) -> socket:
    try:
        return open_socket(host, port)
    except OSError as error:
        sys.exit(f"ingot: cannot listen on {host}:{port}: {error.strerror}")


def _run_web(settings: Settings, listener: socket, ssh_listener: socket, metrics: Path, lifeline: int) -> None:
    from ingot.cli.web import serve

    ssh_listener.close()
    serve(settings, listener, metrics, lifeline)


def _run_ssh(settings: Settings, listener: socket, ssh_listener: socket, lifeline: int) -> None:
    from ingot.cli.ssh import serve

    listener.close()
    serve(settings, ssh_listener, lifeline)


def _run_jobs(settings: Settings, listener: socket, ssh_listener: socket, lifeline: int) -> None:
    from ingot.cli.jobs import serve

    listener.close()
    ssh_listener.close()
    serve(settings, lifeline)
