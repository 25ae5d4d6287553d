"""Price of a rate limit: processor time of a read that a limit counts, beyond that of the same read without one."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from statistics import quantiles

import httpx

from bench.load import get, send_streams
from bench.process import RunningServer, precise_cpu_seconds, running_server
from bench.repositories import Measurement
from bench.user_data import TOKEN

WORKERS = 2
MAX_MICROSECONDS = 20.0
_CONNECTIONS = 4
_CALLS = 100
_ROUNDS = 400
_LIMITED = {
    "throttle_authenticated_api_enabled": True,
    "throttle_authenticated_api_requests_per_period": 1_000_000,
    "throttle_authenticated_api_period_in_seconds": 3600,
}


def measure_limits(folder: Path) -> Iterator[Measurement]:
    """Measure one project on a server without limits and on one that counts the calls, in alternating rounds.

    The fastest tenth of the rounds counts, since other programs only add to them; the very fastest depends on chance.
    """
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(
                running_server(folder / f"limits-{name}", WORKERS, environment={"INGOT_ROOT_TOKEN": TOKEN})
            )
            for name in ("free", "limited")
        }
        read = {name: get(f"/api/v4/projects/{_add_project(server.port)}", TOKEN) for name, server in servers.items()}
        _request(servers["limited"].port, "PUT", "/application/settings", _LIMITED)
        times: dict[str, list[float]] = {name: [] for name in servers}
        for _ in range(_ROUNDS):
            for name, server in servers.items():
                times[name].append(_microseconds(server, read[name]))
    free, limited = (quantiles(spent, n=10)[0] for spent in times.values())
    price, note = limited - free, f"{limited:.0f} and {free:.0f} us of processor time"
    yield Measurement(
        "one project: rate limit, us", price, f"<= {MAX_MICROSECONDS:.0f}", price <= MAX_MICROSECONDS, note
    )


def _microseconds(server: RunningServer, read: bytes) -> float:
    """Return the processor time of all processes of the server per call."""
    before = precise_cpu_seconds(server.pid)
    send_streams(server.port, [repeat(read, _CALLS // _CONNECTIONS) for _ in range(_CONNECTIONS)])
    return (precise_cpu_seconds(server.pid) - before) / _CALLS * 1e6


def _add_project(port: int) -> int:
    project_id: int = _request(port, "POST", "/projects", {"name": "limited"})["id"]
    return project_id


def _request(port: int, method: str, path: str, sent: Mapping[str, object]) -> dict[str, int]:
    response = httpx.request(
        method, f"http://127.0.0.1:{port}/api/v4{path}", json=sent, headers={"PRIVATE-TOKEN": TOKEN}
    )
    result: dict[str, int] = response.raise_for_status().json()
    return result
