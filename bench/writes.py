"""Concurrent writers on SQLite with two web workers: rate and latency of new notes, and reads beside a writer."""

import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import httpx

from bench.load import LoadResult, get, post, send_load
from bench.process import running_server
from bench.repositories import Measurement
from bench.user_data import TOKEN
from ingot.core.settings import Settings

WORKERS = 2
WRITERS = (4, 16, 64)
MAX_TAIL = 4.0
"""Longest p99 as a multiple of p50."""
NOTES_PER_SECOND = 20


def measure_writes(settings: Settings, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Measure how long it takes to create a note, by the number of clients that do so at once."""
    with running_server(settings.data, WORKERS) as server:
        issue = _new_issue(server.port)
        note = [post(f"{issue}/notes", TOKEN, body="A note of the benchmark")]
        for writers in WRITERS:
            results = [send_load(server.port, note, seconds, writers) for _ in range(rounds)]
            tail = statistics.median(result.percentile(0.99) / result.percentile(0.5) for result in results)
            yield Measurement(
                f"{writers} writers, p99 / p50", tail, f"<= {MAX_TAIL:.2f}", tail <= MAX_TAIL, _text(results)
            )
        yield from _measure_reads(server.port, issue, seconds, rounds)


def _measure_reads(port: int, issue: str, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Compare reads on an idle database with reads while another client writes, which empties caches of reads."""
    reads = {"one issue": issue, "page of issues": issue.rpartition("/")[0], "user": "/api/v4/user"}
    for name, path in reads.items():
        shares = []
        rates = []
        for _ in range(rounds):
            idle = send_load(port, [get(path, TOKEN)], seconds).per_second
            with _writer(port, issue):
                rates.append(send_load(port, [get(path, TOKEN)], seconds).per_second)
            shares.append(rates[-1] / idle)
        share = statistics.median(shares)
        note = f"{statistics.median(rates):.0f} requests/s"
        yield Measurement(f"{name} beside {NOTES_PER_SECOND} notes/s / idle", share, ">= 0.50", share >= 0.5, note)


@contextmanager
def _writer(port: int, issue: str) -> Iterator[None]:
    """Create notes at a steady rate within the block."""
    stop = threading.Event()

    def write() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"PRIVATE-TOKEN": TOKEN}) as client:
            due = monotonic()
            while not stop.wait(max(0.0, due - monotonic())):
                due += 1 / NOTES_PER_SECOND
                client.post(f"{issue}/notes", json={"body": "A note beside reads"}).raise_for_status()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _new_issue(port: int) -> str:
    """Return the path of a new issue in a new project."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}) as client:
        project = client.post("/projects", json={"name": "written"}).json()["id"]
        iid = client.post(f"/projects/{project}/issues", json={"title": "Written"}).json()["iid"]
    return f"/api/v4/projects/{project}/issues/{iid}"


def _text(results: list[LoadResult]) -> str:
    median = sorted(results, key=lambda result: result.per_second)[len(results) // 2]
    times = ", ".join(f"p{round(100 * share)} {median.percentile(share):.1f} ms" for share in (0.5, 0.99, 1.0))
    return f"{median.per_second:.0f} notes/s, {times}"
