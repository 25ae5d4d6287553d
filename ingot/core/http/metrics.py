"""Numbers for Prometheus: each worker counts in memory and writes its counts down; whoever is asked adds them up."""

import asyncio
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ingot.core.jobs.statistics import QueueStats
from ingot.errors import Unavailable

BUCKET_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
WRITE_SECONDS = 1.0
_Counts = dict[tuple[str, str, int], list[float]]
"""By method, route and status: how many requests took how long, and the sum of their time last."""


class Metrics:
    """Counts requests and their time by route; the queue's numbers are read when somebody asks."""

    def __init__(self, folder: Path | None, jobs: Callable[[], QueueStats] | None = None) -> None:
        self._folder = folder
        self._jobs = jobs
        self._counts: _Counts = {}
        self._to_be_written = False

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        counts = self._counts.get((method, route, status))
        if counts is None:
            counts = self._counts[method, route, status] = [0.0] * (len(BUCKET_BOUNDS) + 2)
        counts[bisect_left(BUCKET_BOUNDS, seconds)] += 1
        counts[-1] += seconds
        if not self._to_be_written and self._folder is not None:
            self._to_be_written = True
            asyncio.get_running_loop().call_later(WRITE_SECONDS, self._write)

    def render(self) -> bytes:
        """All workers' numbers, also of those that have ended, as Prometheus reads them."""
        # Few instances are scraped, and the library costs megabytes.
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.core import HistogramMetricFamily
        from prometheus_client.registry import Collector

        totals = self._all()
        queue = self._queue()

        class Requests(Collector):
            def collect(self) -> Iterable[Any]:
                family = HistogramMetricFamily(
                    "ingot_http_request_seconds", "Time to answer a request", labels=["method", "route", "status"]
                )
                for (method, route, status), counts in sorted(totals.items()):
                    family.add_metric([method, route, str(status)], list(_buckets(counts)), counts[-1])
                yield family
                if queue is not None:
                    yield from _job_metrics(queue)

        registry = CollectorRegistry()
        registry.register(Requests())
        return generate_latest(registry)

    def _queue(self) -> QueueStats | None:
        try:
            return self._jobs() if self._jobs is not None else None
        except Unavailable:
            # The other numbers are wanted most when the database is in trouble.
            return None

    def _all(self) -> _Counts:
        if self._folder is None:
            return self._counts
        self._write()
        totals: _Counts = {}
        for file in self._folder.glob("*.json"):
            for method, route, status, counts in msgspec.json.decode(file.read_bytes()):
                held = totals.setdefault((method, route, status), [0.0] * len(counts))
                totals[method, route, status] = [a + b for a, b in zip(held, counts, strict=True)]
        return totals

    def _write(self) -> None:
        self._to_be_written = False
        if self._folder is None:
            return
        rows = [(*key, counts) for key, counts in self._counts.items()]
        fresh = self._folder / f"{os.getpid()}.fresh"
        try:
            fresh.write_bytes(msgspec.json.encode(rows))
            fresh.replace(fresh.with_suffix(".json"))
        except OSError:
            # A full disk must not stop the service; the counts stay in memory.
            pass


def _job_metrics(numbers: QueueStats) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield GaugeMetricFamily("ingot_jobs_waiting", "Jobs that wait, also for a later time", numbers.waiting)
    yield GaugeMetricFamily("ingot_jobs_running", "Jobs that a worker holds", numbers.running)
    yield GaugeMetricFamily("ingot_jobs_dead", "Jobs that were given up", numbers.dead)
    yield GaugeMetricFamily("ingot_jobs_oldest_seconds", "How long the oldest due job waits", numbers.oldest_seconds)
    failures = CounterMetricFamily("ingot_jobs_failures", "Attempts that failed", labels=["kind"])
    for kind, count in numbers.failures.items():
        failures.add_metric([kind], count)
    yield failures


def _buckets(counts: list[float]) -> Iterator[tuple[str, float]]:
    total = 0.0
    for bound, count in zip((*map(str, BUCKET_BOUNDS), "+Inf"), counts, strict=False):
        total += count
        yield bound, total
