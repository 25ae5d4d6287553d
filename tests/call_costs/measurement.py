"""Measurement of the costs of the calls that ``make bench-compare`` compares, on an instance with little data."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bench.compare_calls import compared_calls
from bench.compare_data import DataSize, fill_compared
from bench.pages import PASSWORD
from bench.user_data import TOKEN
from ingot.core.settings import Settings
from tests.server.in_process_server import serve_in_process
from tests.statements import cold_reads, count_statements, executed

TABLE = Path(__file__).with_name("call_costs.txt")
_SIZE = DataSize(issues=24, merge_requests=4, projects=4, commits=6)
_WARM_UP_CALLS = 3
_DIGITS = re.compile(rb"\d+|[0-9a-f]{8,}")
_COLUMNS = re.compile(r"^(.{34}) +(\d+) +(\d+) +(\d+) *(.*)$")
_HEADER = f"{'call':34} statements  git  bytes  reason of the last rise"


class CallCost(NamedTuple):
    """Costs of one call when the read cache is empty and everything else is warm."""

    statements: int
    git_processes: int
    bytes: int
    """Length of the response, with each number as one digit."""


def recorded_costs() -> dict[str, CallCost]:
    """Return the table."""
    return {name: cost for name, (cost, _) in _rows().items()}


def write_table(costs: dict[str, CallCost]) -> None:
    """Write the table; the reasons stay."""
    reasons = {name: reason for name, (_, reason) in _rows().items()} if TABLE.exists() else {}
    lines = [
        f"{name:34} {cost.statements:10} {cost.git_processes:4} {cost.bytes:6}  {reasons.get(name, '')}".rstrip()
        for name, cost in costs.items()
    ]
    TABLE.write_text("\n".join([_HEADER, *lines, ""]))


def _rows() -> dict[str, tuple[CallCost, str]]:
    matches = filter(None, (_COLUMNS.match(line) for line in TABLE.read_text().splitlines()[1:]))
    return {match[1].strip(): (CallCost(*map(int, match.groups()[1:4])), match[5]) for match in matches}


def measured_costs(data: Path) -> dict[str, CallCost]:
    """Fill a new instance on SQLite and return the costs of each call."""
    settings = Settings(data=data, root_token=TOKEN, root_password=PASSWORD)
    with serve_in_process(settings) as server, counted_processes() as processes:
        count_statements(server.database)
        port = server.client.base_url.port
        assert port is not None
        filled = fill_compared(port, _SIZE)

        def cost_of(request: bytes) -> CallCost:
            before = executed(server.database), len(processes)
            content = _response(port, request)
            return CallCost(executed(server.database) - before[0], len(processes) - before[1], len(content))

        costs = {}
        for call in compared_calls():
            requests = islice(call.requests(filled), _WARM_UP_CALLS + 2)
            with cold_reads():
                tries = [cost_of(request) for request in requests][_WARM_UP_CALLS:]
            # Another thread may have stored the last use of a token meanwhile.
            costs[call.name] = min(tries)
        return costs


@contextmanager
def counted_processes() -> Iterator[list[Any]]:
    """Collect the command lines of the processes that are started within the block."""
    started: list[Any] = []
    start = subprocess.Popen.__init__

    def start_counted(process: subprocess.Popen[bytes], args: Any, *rest: Any, **options: Any) -> None:
        started.append(args)
        start(process, args, *rest, **options)

    with patch.object(subprocess.Popen, "__init__", start_counted):
        yield started


def _response(port: int, request: bytes) -> bytes:
    """Return the body of the response, with each number and id as one digit."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        response = HTTPResponse(connection)
        response.begin()
        content = response.read()
        response.close()
    assert response.status < 400, (response.status, request, content)
    return _DIGITS.sub(b"0", content)
