"""Startup time and idle memory."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class RunningServer(NamedTuple):
    """The process id and port of a server, and the seconds until it was ready."""

    pid: int
    port: int
    seconds: float


@contextmanager
def running_server(data: Path, workers: int = 1) -> Iterator[RunningServer]:
    """Start a server with a number of web workers, for the length of a block."""
    port = 18300 + os.getpid() % 500
    command = [
        str(Path(sys.executable).parent / "ingot"),
        "serve",
        "--data",
        str(data),
        "--port",
        str(port),
        "--ssh-port",
        "0",
        "--workers",
        str(workers),
    ]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield RunningServer(process.pid, port, _until_ready(port, started))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _until_ready(port: int, started: float) -> float:
    while time.perf_counter() - started < 30:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/readiness", timeout=5) as answer:
                if answer.status == 200:
                    return time.perf_counter() - started
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.01)
    raise RuntimeError("The server did not become ready")


def start_seconds(data: Path) -> float:
    """Return the seconds from the command to the first 200 on readiness."""
    with running_server(data) as server:
        return server.seconds


def idle_megabytes(data: Path) -> float:
    """Return the proportional memory of all processes, a few seconds after the start."""
    with running_server(data) as server:
        time.sleep(4)
        return sum(_pss(member) for member in _tree(server.pid)) / 1024


def _tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(member for child in children for member in _tree(int(child)))]


def _pss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
