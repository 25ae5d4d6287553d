"""Memory under a steady mixed load: all compared calls in turn, at a fixed rate, for an hour."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from bench.compare_calls import compared_calls
from bench.compare_data import FilledServer, fill_compared
from bench.load import send_streams
from bench.pages import PASSWORD
from bench.process import running_server, tree_memory
from bench.user_data import TOKEN

_MINUTE = 60.0
_CONNECTIONS = 4
_FLAT = 1.03


def main() -> None:
    """Send the load, print the memory of each minute, and compare the last quarter of the time with the one before."""
    parser = argparse.ArgumentParser(prog="python -m bench.steady")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--per-second", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    environment = {"INGOT_ROOT_TOKEN": TOKEN, "INGOT_ROOT_PASSWORD": PASSWORD}
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder), arguments.workers, environment=environment) as server,
    ):
        print("filling", flush=True)
        turns = _turns(fill_compared(server.port))
        memory = []
        for minute in range(1, arguments.minutes + 1):
            worst = _send_minute(server.port, turns, arguments.per_second)
            memory.append(tree_memory(server.pid))
            print(f"minute {minute:3}: {memory[-1]:6.1f} MiB, slowest call {worst:5.0f} ms", flush=True)
    quarter = max(1, len(memory) // 4)
    ratio = statistics.median(memory[-quarter:]) / statistics.median(memory[-2 * quarter : -quarter])
    verdict = "ok  " if ratio <= _FLAT else "MISS"
    print(f"{verdict} last quarter / the one before {ratio:.3f}   wanted <= {_FLAT}")


def _turns(filled: FilledServer) -> Iterator[bytes]:
    """Return the requests of all calls, one of each in turn, without an end."""
    streams = [call.requests(filled) for call in compared_calls()]
    return (next(stream) for stream in cycle(streams))


def _send_minute(port: int, turns: Iterator[bytes], per_second: float) -> float:
    """Send the requests of a minute at a steady rate; return the milliseconds of the slowest."""
    ends = time.monotonic() + _MINUTE
    batch = max(1, round(per_second))
    slowest = 0.0
    while (left := ends - time.monotonic()) > 0:
        due = time.monotonic() + min(1.0, left)
        requests = list(islice(turns, batch))
        sent = send_streams(port, [iter(requests[part::_CONNECTIONS]) for part in range(_CONNECTIONS)])
        slowest = max(slowest, 1000 * sent.seconds[-1])
        time.sleep(max(0.0, due - time.monotonic()))
    return slowest


if __name__ == "__main__":
    main()
