"""``ingot runner``: execute jobs of an Ingot or GitLab server in a shell of this machine."""

import argparse
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ingot.core.log import Log
from ingot.runner.client import RunnerClient
from ingot.runner.execution import RunnerPaths
from ingot.runner.http import NoResponse
from ingot.runner.registration import RegistrationFailed, RunnerDirectory
from ingot.runner.worker import RunnerRejected, RunnerWorker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "Jobs run as the user who starts this command. They can read everything that this user can, so "
        "use it only for tests and for projects of people whom you trust. gitlab-runner executes jobs in containers."
    )
    parser.add_argument("--url", metavar="URL", required=True, help="address of the server")
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument("--token", metavar="TOKEN", help="token of a runner (or INGOT_RUNNER_TOKEN)")
    tokens.add_argument(
        "--registration-token",
        metavar="TOKEN",
        help="register a runner at the first start (or INGOT_RUNNER_REGISTRATION_TOKEN)",
    )
    parser.add_argument("--concurrency", metavar="N", type=int, default=1, help="jobs at the same time (default: 1)")
    parser.add_argument("--once", action="store_true", help="execute one job if one is waiting, then exit")
    parser.add_argument("--tags", metavar="LIST", default="", help="comma-separated tags of the registered runner")
    parser.add_argument("--work", metavar="DIR", default="runner", help="directory for builds and caches")
    parser.add_argument("--clone-url", metavar="URL", help="address of the server for git, if it differs from --url")
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), default="auto", help="format of log lines")


def run(arguments: argparse.Namespace) -> None:
    """Execute jobs until a signal arrives: SIGQUIT and SIGINT wait for running jobs, SIGTERM ends them."""
    token = arguments.token or os.environ.get("INGOT_RUNNER_TOKEN")
    registration_token = arguments.registration_token or os.environ.get("INGOT_RUNNER_REGISTRATION_TOKEN")
    if arguments.registration_token and not arguments.token:
        token = None
    if not token and not registration_token:
        sys.exit("ingot: runner needs --token or --registration-token")
    if arguments.concurrency < 1:
        sys.exit("ingot: --concurrency must be at least 1")
    log = Log(arguments.log_format)
    directory = RunnerDirectory(Path(arguments.work).absolute())
    tags = [tag.strip() for tag in arguments.tags.split(",") if tag.strip()]
    try:
        if not token:
            token = directory.registered_token(arguments.url, str(registration_token), tags)
        worker = build_worker(arguments.url, token, directory, log, arguments.concurrency, arguments.clone_url)
        worker.report_lost_jobs()
        handle_signals(worker)
        if not arguments.once:
            log("runner started", url=arguments.url, concurrency=arguments.concurrency)
            worker.run()
        elif not worker.run_once():
            log("no job is pending")
    except (RegistrationFailed, RunnerRejected, NoResponse) as error:
        sys.exit(f"ingot: {error}")


def serve_runner(url: str, registration_token: str, folder: Path, log: Log, lifeline: int) -> None:
    """Execute the jobs of the server on this machine until SIGTERM or until the supervisor exits."""
    directory = RunnerDirectory(folder)
    try:
        # The port may change with each start, so the token is stored under a fixed name.
        token = directory.registered_token(url, registration_token, (), "ingot serve --runner", key="serve")
        worker = build_worker(url, token, directory, log, os.cpu_count() or 1, clone_url=url)
        worker.report_lost_jobs()
        handle_signals(worker)
        threading.Thread(target=_watch_lifeline, args=(worker, lifeline), daemon=True).start()
        worker.run()
    except (RegistrationFailed, RunnerRejected, NoResponse) as error:
        sys.exit(f"ingot: {error}")


def build_worker(
    url: str, token: str, directory: RunnerDirectory, log: Callable[..., None], concurrency: int, clone_url: str | None
) -> RunnerWorker:
    """Return a worker whose builds and caches lie in the runner's directory."""
    client = RunnerClient(url, token, directory.system_id())
    paths = RunnerPaths(directory.folder / "builds", directory.folder / "cache", directory.folder / "running")
    return RunnerWorker(client, paths, log, concurrency=concurrency, clone_url=clone_url)


def _watch_lifeline(worker: RunnerWorker, lifeline: int) -> None:
    select.select([lifeline], [], [])
    worker.stop(abort=True)


def handle_signals(worker: RunnerWorker) -> None:
    """Stop by signals; a thread does it, because a handler may interrupt the code that holds the same lock.

    The thread reads their numbers from a socket: a handler runs in the main thread, which does not wake up if the
    system delivers the signal to another thread.
    """
    received, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.fileno())
    numbers = [signal.SIGTERM, signal.SIGQUIT]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # The supervisor handles SIGINT itself.
        numbers.append(signal.SIGINT)
    for number in numbers:
        signal.signal(number, _ignore)
    threading.Thread(target=_stop_by_signals, args=(worker, received, wakeup), daemon=True).start()


def _ignore(_number: int, _frame: object) -> None:
    """Handle a signal whose number was written to the wakeup socket."""


def _stop_by_signals(worker: RunnerWorker, received: socket.socket, wakeup: socket.socket) -> None:
    with received, wakeup:
        while number := received.recv(1):
            worker.stop(abort=number[0] == signal.SIGTERM)
