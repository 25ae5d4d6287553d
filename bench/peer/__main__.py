"""Measure this server and a Gitea or Forgejo program in alternating rounds, and print a table.

``python -m bench.peer PATH`` takes the path of the program. It fills both with equal data by their APIs, with two web
workers here. Figures are calls per second with eight connections, and the processor time of all processes per call.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.compare_data import DataSize, fill_compared
from bench.load import send_streams
from bench.pages import PASSWORD
from bench.peer.calls import common_calls
from bench.peer.data import fill_peer
from bench.peer.server import running_peer
from bench.process import RunningServer, precise_cpu_seconds, running_server, tree_memory
from bench.user_data import TOKEN

_CONNECTIONS = 8
_WORKERS = 2


class Rate(NamedTuple):
    """Figures of a call on one server: medians of its rounds."""

    per_second: float
    cpu_ms: float


def main() -> None:
    """Compare this server with a program."""
    parser = argparse.ArgumentParser(prog="python -m bench.peer", description=__doc__)
    parser.add_argument("program", type=Path, help="path of a Gitea or Forgejo program with SQLite")
    parser.add_argument("--seconds", type=float, default=3.0, help="duration of a round of reads")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    size = DataSize()
    environment = {"INGOT_ROOT_TOKEN": TOKEN, "INGOT_ROOT_PASSWORD": PASSWORD}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        own = stack.enter_context(running_server(folder / "own", _WORKERS, environment=environment))
        peer = stack.enter_context(running_peer(arguments.program.absolute(), folder / "peer"))
        print(f"{peer.version}\nfilling both servers", flush=True)
        filled, filled_peer = fill_compared(own.port, size), fill_peer(peer, size)
        print(f"{'':34} {'calls per second':>27}   {'ms of processor time':>27}")
        print(f"{'call':34} {'here':>9} {'peer':>9} {'ratio':>7}   {'here':>9} {'peer':>9} {'ratio':>7}")
        for call in common_calls():
            own_rates, peer_rates = [], []
            for _ in range(arguments.rounds):
                own_rates.append(measure(own, partial(call.own_requests, filled), arguments.seconds))
                peer_rates.append(measure(peer.running, partial(call.peer, peer, filled_peer), arguments.seconds))
            print(table_row(call.own.name, median_rate(own_rates), median_rate(peer_rates)), flush=True)
        print(f"start, seconds: {own.seconds:.2f} here, {peer.running.seconds:.2f} peer")
        memory = tree_memory(own.pid), tree_memory(peer.running.pid)
        print(f"memory after all calls, MiB: {memory[0]:.0f} here, {memory[1]:.0f} peer")


def measure(server: RunningServer, requests: Callable[[], Iterator[bytes]], seconds: float) -> Rate:
    """Send requests for some seconds, after a few that fill caches; raise if one fails."""
    send_streams(server.port, [islice(requests(), 10)])
    stream = requests()  # All connections take from it, so that every write has a number of its own.
    before, started = precise_cpu_seconds(server.pid), time.perf_counter()
    result = send_streams(server.port, [stream] * _CONNECTIONS, seconds)
    made = result.per_second * (time.perf_counter() - started)
    return Rate(result.per_second, 1000 * (precise_cpu_seconds(server.pid) - before) / made)


def median_rate(rates: list[Rate]) -> Rate:
    """Return the medians of several rounds."""
    return Rate(*(statistics.median(figures) for figures in zip(*rates, strict=True)))


def table_row(name: str, own: Rate, peer: Rate) -> str:
    """Return a line of the table; ratios are those of this server to the peer."""
    speed = f"{own.per_second:9.0f} {peer.per_second:9.0f} {own.per_second / peer.per_second:7.2f}"
    return f"{name:34} {speed}   {own.cpu_ms:9.2f} {peer.cpu_ms:9.2f} {own.cpu_ms / peer.cpu_ms:7.2f}"


if __name__ == "__main__":
    main()
