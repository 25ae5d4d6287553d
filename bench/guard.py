"""Coarse guard of speed: processor time of frequent calls relative to a fixed piece of work, against a record.

The times of the calls and of the work are taken in alternating rounds, and the least of each counts, since other
programs only add to it. A call that seems slow is measured again, so only a lasting loss fails. Every read has a query
parameter of its own, so that no cached response is measured.
"""

import argparse
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import count, islice
from pathlib import Path

from bench.compare_calls import ComparedCall, compared_calls
from bench.compare_data import DataSize, FilledServer, fill_compared
from bench.load import send_streams
from bench.pages import PASSWORD
from bench.process import RunningServer, precise_cpu_seconds, running_server
from bench.user_data import TOKEN

RECORD = Path(__file__).with_name("processor_times.txt")
MAX_RISE = 1.4
_SIZE = DataSize(issues=60, merge_requests=8, projects=22, commits=30)
_GUARDED = (
    *("20 issues", "one issue", "notes of an issue", "one project", "20 projects", "current user", "20 commits"),
    *("file", "20 merge requests", "one merge request", "page: project", "page: issues", "page: issue"),
    # Not a note of the issue: the page of the issue would take longer with each attempt.
    *("create issue", "note of a merge request", "file commit"),
)
_CALLS = 24
_ROUNDS = 4
_ATTEMPTS = 4
_READ = re.compile(rb"^GET (/api/[^ ?]+)\??([^ ]*) ")
_numbers = count(1)
_HEADER = f"{'call':34}  multiple of the fixed work"


def main() -> None:
    """Compare the calls with the record, or write it."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name} instead")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {"INGOT_ROOT_TOKEN": TOKEN, "INGOT_ROOT_PASSWORD": PASSWORD}
        with running_server(Path(folder), environment=environment) as server:
            filled = fill_compared(server.port, _SIZE)
            if arguments.record:
                write_record(measured_times(server, filled, guarded_calls(), _ROUNDS * _ATTEMPTS))
            else:
                sys.exit(_check(server, filled))


def guarded_calls() -> list[ComparedCall]:
    """Return the calls of the record."""
    return [call for call in compared_calls() if call.name in _GUARDED]


def _check(server: RunningServer, filled: FilledServer) -> int:
    """Return 1 if calls are slower than the record allows in every attempt."""
    record, slow = recorded_times(), guarded_calls()
    least: dict[str, float] = {}
    for _ in range(_ATTEMPTS):
        for name, times in measured_times(server, filled, slow, _ROUNDS).items():
            least[name] = min(times, least.get(name, times))
        slow = slow_calls(slow, least, record)
        if not slow:
            return 0
    for call in slow:
        rise = least[call.name] / record[call.name]
        print(f"{call.name} takes {rise:.2f} times the recorded processor time; at most {MAX_RISE} is allowed.")
    print("Find the cause with `make bench-compare`; `python -m bench.guard --record` accepts it.")
    return 1


def slow_calls(calls: Iterable[ComparedCall], times: dict[str, float], record: dict[str, float]) -> list[ComparedCall]:
    """Return the calls that exceed the record; one that is not recorded counts as slow."""
    return [call for call in calls if times[call.name] > MAX_RISE * record.get(call.name, 0)]


def measured_times(
    server: RunningServer, filled: FilledServer, calls: list[ComparedCall], rounds: int
) -> dict[str, float]:
    """Return the least processor time of each call as a multiple of that of the fixed work."""
    work: list[float] = []
    times: dict[str, list[float]] = {call.name: [] for call in calls}
    for round_number in range(rounds + 1):
        for call in calls:
            spent = _processor_time(server, islice(call.requests(filled), _CALLS))
            if round_number:  # The first round fills caches.
                times[call.name].append(spent)
        work.append(fixed_work())
    return {name: min(spent) / min(work) for name, spent in times.items()}


def _processor_time(server: RunningServer, requests: Iterable[bytes]) -> float:
    """Return the seconds of all processes of the server per request."""
    sent = [uncached(request) for request in requests]
    before = precise_cpu_seconds(server.pid)
    send_streams(server.port, [iter(sent)])
    return (precise_cpu_seconds(server.pid) - before) / len(sent)


def uncached(request: bytes) -> bytes:
    """Return a read of the API with a parameter that no other request has and that means nothing."""
    return _READ.sub(lambda read: b"GET %s?%s&unique=%d " % (read[1], read[2], next(_numbers)), request)


def fixed_work() -> float:
    """Return the seconds of this thread for work like that of a request: rows, objects, texts and JSON."""
    started = time.thread_time()
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, text TEXT)")
        rows = [(number, f"name {number}", "some words " * 10) for number in range(400)]
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
        for _ in range(10):
            stored = connection.execute("SELECT id, name, text FROM rows ORDER BY name DESC").fetchall()
            records = [
                {"id": row[0], "name": row[1].upper(), "text": re.sub("words", "text", row[2])} for row in stored
            ]
            json.loads(json.dumps(sorted(records, key=lambda record: int(record["id"]))))
    connection.close()
    return time.thread_time() - started


def recorded_times() -> dict[str, float]:
    """Return the record."""
    lines = RECORD.read_text().splitlines()[1:]
    return {line[:34].strip(): float(line[34:]) for line in lines}


def write_record(times: dict[str, float]) -> None:
    """Write the record."""
    RECORD.write_text("\n".join([_HEADER, *(f"{name:34} {value:.4f}" for name, value in times.items()), ""]))


if __name__ == "__main__":
    main()
