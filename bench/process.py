"""The whole server as users start it: time until it is ready, memory and processor time when idle, first visits."""

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_IDLE_SECONDS = 20.0


class RunningServer(NamedTuple):
    """The process id and port of a server, and the seconds until it was ready."""

    pid: int
    port: int
    seconds: float


@contextmanager
def running_server(
    data: Path, workers: int = 1, command: Path | None = None, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[RunningServer]:
    """Start a server with a number of web workers, for the length of a block; ``command`` is another version."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    arguments: dict[str, object] = {"--data": data, "--port": port, "--ssh-port": 0, "--workers": workers}
    line = [str(command or Path(sys.executable).parent / "ingot"), "serve"]
    line += [str(word) for pair in arguments.items() for word in pair]
    started = time.perf_counter()
    process = subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
    )
    try:
        yield RunningServer(process.pid, port, until_ready(port, started))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def until_ready(port: int, started: float, path: str = "/-/readiness") -> float:
    """Return the seconds from ``started`` until a server answers a path with 200; raise after half a minute."""
    while time.perf_counter() - started < 30:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                if answer.status == 200:
                    return time.perf_counter() - started
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.01)
    raise RuntimeError("The server did not become ready")


def start_seconds(data: Path) -> float:
    """Return the seconds from the command to the first 200 on readiness."""
    with running_server(data) as server:
        return server.seconds


def idle_figures(data: Path) -> tuple[float, float]:
    """Return the proportional memory in MiB and the processor time in percent of a core, idle, with two workers."""
    with running_server(data, workers=2) as server:
        time.sleep(4)
        started = sum(cpu_seconds(pid) for pid in _tree(server.pid))
        time.sleep(_IDLE_SECONDS)
        used = sum(cpu_seconds(pid) for pid in _tree(server.pid)) - started
        return tree_memory(server.pid), 100 * used / _IDLE_SECONDS


def first_visit_ratio(data: Path, pages: Sequence[str], cookie: str) -> float:
    """Return how many times as long as its second the first visit of a page takes after a start; the median."""
    with running_server(data) as server:
        seconds = [[_visit(server.port, page, cookie) for _ in range(2)] for page in pages]
    return statistics.median(first / second for first, second in seconds)


def _visit(port: int, path: str, cookie: str) -> float:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Cookie": cookie})
    started = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
    return time.perf_counter() - started


def _tree(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(member for child in children for member in _tree(int(child)))]


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def precise_cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its descendants, in nanoseconds for those that still run.

    ``cpu_seconds`` counts in steps of 10 ms, which a hundred calls may not fill.
    """
    return sum(_scheduled_seconds(member) for member in _tree(pid))


def _scheduled_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ended_children = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    threads = Path(f"/proc/{pid}/task").iterdir()
    return ended_children + sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def tree_memory(pid: int) -> float:
    """Return the proportional memory of a process and its descendants in MiB."""
    return sum(proportional_memory(member) for member in _tree(pid)) / 1024


def proportional_memory(pid: int) -> int:
    """Return the memory of a process in KiB, with its share of the pages that others use too."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
