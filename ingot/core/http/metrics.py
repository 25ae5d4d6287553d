"""Metrics for Prometheus: each worker counts in memory and writes its counts to a file; a scrape adds all files up."""

import asyncio
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ingot.core.cache import CacheRegistry, CacheStats, CopiesSize, CopyStats
from ingot.core.disk_space import DiskSpace
from ingot.core.errors import Unavailable
from ingot.core.http.process_metrics import process_families
from ingot.core.jobs.statistics import QueueStats
from ingot.core.nodes.queries import Node

BUCKET_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
WRITE_SECONDS = 1.0
MAX_SERIES = 5_000
"""Limit of combinations of method, route and status, far above what the declared routes can produce.

It bounds memory and the size of a scrape even if a label should ever contain something that clients choose.
"""
PROCESSES = "processes"
"""File in the folder of the metrics that lists the processes of the server."""
DATABASE_SECONDS = 1.0
"""Time after which a scrape does without the figures of jobs and nodes, because the database does not answer."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED = "unmatched"
"""Route of requests that match no declared route."""
_OVERFLOW = "OTHER", "overflow", 0
_Counts = dict[tuple[str, str, int], list[float]]
"""By method, route and status: the number of requests in each bucket of duration, and the sum of their durations."""
_Caches = dict[str, CacheStats]


class _WorkerFigures(msgspec.Struct, array_like=True):
    """Content of a worker's file."""

    requests: list[tuple[str, str, int, list[float]]]
    caches: list[CacheStats]
    replica_reads: dict[str, int] = {}
    downloads: tuple[int, int] = (0, 0)
    """Packs of repositories in a bucket, and their bytes."""


class _Totals(NamedTuple):
    """Figures of all workers."""

    requests: _Counts
    caches: _Caches
    replica_reads: Counter[str]
    downloads: tuple[int, int] = (0, 0)


class DatabaseFigures(NamedTuple):
    """Figures of the whole instance, from its database."""

    queue: QueueStats
    nodes: list[Node]


class Metrics:
    """Requests by route and duration, processes, jobs of the queue, caches, reads of replicas, and free disk space."""

    def __init__(
        self,
        folder: Path | None,
        read_figures: Callable[[], DatabaseFigures] | None = None,
        caches: CacheRegistry | None = None,
        disks: DiskSpace | None = None,
        replica_reads: Counter[str] | None = None,
        repository_copies: Callable[[], CopyStats] | None = None,
        copies_size: Callable[[], CopiesSize] | None = None,
    ) -> None:
        self._folder = folder
        self._repository_copies = repository_copies
        self._copies_size = copies_size
        self._read_figures = read_figures
        self._caches = caches
        self._disks = disks
        self._replica_reads = Counter() if replica_reads is None else replica_reads
        self._counts: _Counts = {}
        self._write_scheduled = False
        # One thread, so that scrapes neither block the event loop nor occupy the threads of other requests.
        self._thread = ThreadPoolExecutor(1, "metrics")
        # Another one for the database, for which scrapes must not wait long.
        self._database_thread = ThreadPoolExecutor(1, "database metrics")
        self._reading: Future[DatabaseFigures] | None = None

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        counts = _counts_of(self._counts, (method, route, status))
        counts[bisect_left(BUCKET_BOUNDS, seconds)] += 1
        counts[-1] += seconds
        if not self._write_scheduled and self._folder is not None:
            self._write_scheduled = True
            asyncio.get_running_loop().call_later(WRITE_SECONDS, self._thread.submit, self._write)

    async def scrape(self) -> bytes:
        """Return the response to a scrape, rendered in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.render)

    def close(self) -> None:
        """Wait for the threads."""
        self._thread.shutdown()
        self._database_thread.shutdown()

    def render(self) -> bytes:
        """Return the figures of all workers, including those that have ended, in the text format of Prometheus."""
        # Few instances are scraped, and the library costs megabytes.
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.registry import Collector

        totals = self._all()
        figures, disks, folder = self._database_figures(), self._disks, self._folder
        copies = None if self._copies_size is None else self._copies_size()

        class Figures(Collector):
            def collect(self) -> Iterable[Any]:
                yield from _request_families(totals.requests)
                yield from _cache_families(totals.caches)
                if totals.replica_reads:
                    yield _replica_metric(totals.replica_reads)
                if copies is not None:
                    yield from _copy_metrics(copies, totals.downloads)
                if disks is not None:
                    yield _disk_metric(disks)
                if folder is not None:
                    yield from process_families(folder / PROCESSES)
                if figures is not None:
                    yield from _job_metrics(figures.queue)
                    yield from _node_metrics(figures.nodes)

        registry = CollectorRegistry()
        registry.register(Figures())
        return generate_latest(registry)

    def _database_figures(self) -> DatabaseFigures | None:
        if self._read_figures is None:
            return None
        if self._reading is None or self._reading.done():
            self._reading = self._database_thread.submit(self._read_figures)
        try:
            return self._reading.result(DATABASE_SECONDS)
        except (Unavailable, TimeoutError):
            # The other figures are needed most when the database does not answer; readiness and the log report that.
            return None

    def _all(self) -> _Totals:
        if self._folder is None:
            caches = {stats.name: stats for stats in self._own_caches()}
            return _Totals(dict(self._counts), caches, self._replica_reads, self._own_downloads())
        self._write()
        totals = _Totals({}, {}, Counter())
        packs = size = 0
        for file in self._folder.glob("*.json"):
            figures = msgspec.json.decode(file.read_bytes(), type=_WorkerFigures)
            for method, route, status, counts in figures.requests:
                sums = _counts_of(totals.requests, (method, route, status))
                sums[:] = [a + b for a, b in zip(sums, counts, strict=True)]
            runs = _is_running(int(file.stem))
            for stats in figures.caches:
                totals.caches[stats.name] = _added(totals.caches.get(stats.name), stats, holds_memory=runs)
            totals.replica_reads.update(figures.replica_reads)
            packs, size = (packs + figures.downloads[0], size + figures.downloads[1])
        return totals._replace(downloads=(packs, size))

    def _own_caches(self) -> list[CacheStats]:
        stats = self._caches.stats() if self._caches is not None else []
        if self._repository_copies is None:
            return stats
        copies = self._repository_copies()
        return [*stats, CacheStats("repository_copies", 0, 0, copies.hits, copies.misses)]

    def _own_downloads(self) -> tuple[int, int]:
        if self._repository_copies is None:
            return 0, 0
        copies = self._repository_copies()
        return copies.packs, copies.bytes

    def _write(self) -> None:
        self._write_scheduled = False
        if self._folder is None:
            return
        # The event loop may add entries meanwhile, so the dictionary is copied at once.
        requests = [(*key, counts) for key, counts in list(self._counts.items())]
        figures = _WorkerFigures(requests, self._own_caches(), dict(self._replica_reads), self._own_downloads())
        fresh = self._folder / f"{os.getpid()}.fresh"
        try:
            fresh.write_bytes(msgspec.json.encode(figures))
            fresh.replace(fresh.with_suffix(".json"))
        except OSError:
            # A full disk must not stop the service, and would be logged every second; the counts stay in memory.
            pass


def _counts_of(counts: _Counts, key: tuple[str, str, int]) -> list[float]:
    """Return the counts of a combination of labels; those beyond the limit share one entry."""
    series = counts.get(key)
    if series is None:
        if len(counts) >= MAX_SERIES:
            key = _OVERFLOW
        series = counts.setdefault(key, [0.0] * (len(BUCKET_BOUNDS) + 2))
    return series


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # Another user's process has this number now.
        return False
    return True


def _added(sums: CacheStats | None, stats: CacheStats, *, holds_memory: bool) -> CacheStats:
    """Add the figures of one worker's cache; one that has ended holds no entries any more."""
    entries, size = (stats.entries, stats.bytes) if holds_memory else (0, 0)
    if sums is None:
        return stats._replace(entries=entries, bytes=size)
    return CacheStats(
        stats.name, sums.entries + entries, sums.bytes + size, sums.hits + stats.hits, sums.misses + stats.misses
    )


def _request_families(requests: _Counts) -> Iterator[Any]:
    """Yield number and sum by route, and the buckets by method and class of status: by route they were megabytes."""
    from prometheus_client.core import HistogramMetricFamily, SummaryMetricFamily

    by_route = SummaryMetricFamily(
        "ingot_http_request_seconds", "Time to answer a request", labels=["method", "route", "status"]
    )
    by_class: dict[tuple[str, str], list[float]] = {}
    for (method, route, status), counts in sorted(requests.items()):
        by_route.add_metric([method, route, str(status)], int(sum(counts[:-1])), counts[-1])
        sums = by_class.setdefault((method, f"{status // 100}xx"), [0.0] * len(counts))
        sums[:] = [a + b for a, b in zip(sums, counts, strict=True)]
    histogram = HistogramMetricFamily(
        "ingot_http_response_seconds", "Distribution of the times to answer a request", labels=["method", "status"]
    )
    for labels, counts in by_class.items():
        histogram.add_metric(list(labels), list(_buckets(counts)), counts[-1])
    yield from (by_route, histogram)


def _cache_families(caches: _Caches) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    entries = GaugeMetricFamily("ingot_cache_entries", "Entries that the workers have cached", labels=["cache"])
    size = GaugeMetricFamily("ingot_cache_bytes", "Memory of these entries", labels=["cache"])
    hits = CounterMetricFamily("ingot_cache_hits", "Lookups that found an entry", labels=["cache"])
    misses = CounterMetricFamily("ingot_cache_misses", "Lookups that found none", labels=["cache"])
    for name, stats in sorted(caches.items()):
        for family, value in (
            (entries, stats.entries),
            (size, stats.bytes),
            (hits, stats.hits),
            (misses, stats.misses),
        ):
            family.add_metric([name], value)
    yield from (entries, size, hits, misses)


def _replica_metric(reads: Counter[str]) -> Any:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(
        "ingot_replica_reads", "Reads by outcome: served by a replica, or left to the primary", labels=["outcome"]
    )
    for outcome, number in sorted(reads.items()):
        family.add_metric([outcome], number)
    return family


def _copy_metrics(copies: CopiesSize, downloads: tuple[int, int]) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield GaugeMetricFamily("ingot_repository_copies", "Repositories in a bucket with a local copy", copies.copies)
    yield GaugeMetricFamily("ingot_repository_copies_bytes", "Size of these copies", copies.bytes)
    packs, size = downloads
    yield CounterMetricFamily("ingot_repository_downloaded_packs", "Packs downloaded from the bucket", packs)
    yield CounterMetricFamily("ingot_repository_downloaded_bytes", "Size of these packs and their indexes", size)


def _disk_metric(disks: DiskSpace) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    free = GaugeMetricFamily("ingot_disk_free_bytes", "Free space of the disk of a directory", labels=["directory"])
    for volume in disks.volumes():
        free.add_metric([volume.name], volume.free_bytes)
    return free


def _job_metrics(numbers: QueueStats) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield GaugeMetricFamily("ingot_jobs_waiting", "Jobs that are queued, including scheduled ones", numbers.waiting)
    yield GaugeMetricFamily("ingot_jobs_running", "Jobs that are running", numbers.running)
    yield GaugeMetricFamily("ingot_jobs_dead", "Jobs that failed for good", numbers.dead)
    yield GaugeMetricFamily("ingot_jobs_oldest_seconds", "Age of the oldest due job", numbers.oldest_seconds)
    failures = CounterMetricFamily("ingot_jobs_failures", "Attempts that failed", labels=["kind"])
    for kind, count in numbers.failures.items():
        failures.add_metric([kind], count)
    yield failures


def _node_metrics(nodes: list[Node]) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    online = GaugeMetricFamily("ingot_node_online", "Whether a node serves a role", labels=["node", "role"])
    seen = GaugeMetricFamily("ingot_node_idle_seconds", "Seconds since the last report of a node", labels=["node"])
    offset = GaugeMetricFamily(
        "ingot_node_clock_offset_seconds", "Seconds by which a clock is ahead of the database server's", labels=["node"]
    )
    for node in nodes:
        for role in node.roles:
            online.add_metric([node.name, role], float(node.online))
        seen.add_metric([node.name], node.idle_seconds)
        offset.add_metric([node.name], node.clock_offset)
    yield from (online, seen, offset)


def _buckets(counts: list[float]) -> Iterator[tuple[str, float]]:
    total = 0.0
    for bound, count in zip((*map(str, BUCKET_BOUNDS), "+Inf"), counts, strict=False):
        total += count
        yield bound, total
