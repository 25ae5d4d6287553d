"""Simulation of nodes with repositories in a bucket: hit rates of caches, requests to the bucket and cold reads.

Reads and pushes arrive for repositories with a Zipf distribution, at nodes that a load balancer chooses at random or by
the path of the project. Two requests for each new pack are what tests/storage counts; statements are counted in the
code, and times of downloads are computed from a bandwidth, not measured.
"""

import argparse
import random
from bisect import bisect
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

_REQUESTS_PER_PACK = 2
"""Pack and index."""
_RANGE_BYTES = 8 * 2**20
_READ_STATEMENTS = 1
_UPDATE_STATEMENTS = 4
"""Row, packs, refs, and the row again."""
_PUSH_STATEMENTS = 13
"""Two before the upload, seven in the transaction, four to update the copy; the record of the push needs more."""
_PUSHED_BYTES = 20_000
_PACKS = 5
"""Packs of a repository that housekeeping has combined."""


class Load(NamedTuple):
    """Repositories and how they are used."""

    repositories: int = 100_000
    median_bytes: int = 2 * 2**20
    sigma: float = 2.0
    """Of the logarithm of the sizes: 5 % of the repositories have more than 27 times the median."""
    exponent: float = 1.0
    push_share: float = 0.03
    events: int = 300_000


class Cluster(NamedTuple):
    """Nodes, their caches, and the distance of the bucket."""

    nodes: int
    cache_bytes: int
    hashes_by_path: bool
    seconds_per_request: float = 0.02
    bytes_per_second: float = 200e6


class Outcome(NamedTuple):
    """Figures per 1,000 requests of clients, of the second half of the events."""

    hit_share: float
    bucket_requests: float
    statements: float
    downloaded_bytes: float
    cold_seconds: float
    """95th percentile of the reads that downloaded a whole repository."""


class _Node:
    """Cache of one node: generation and size of each copy, the least recently used first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._copies: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._bytes = 0

    def generation(self, repository: int) -> int | None:
        copy = self._copies.get(repository)
        return None if copy is None else copy[0]

    def store(self, repository: int, generation: int, size: int) -> None:
        _, before = self._copies.pop(repository, (0, 0))
        self._copies[repository] = (generation, size)
        self._bytes += size - before
        while self._bytes > self._limit and len(self._copies) > 1:
            _, (_, removed) = self._copies.popitem(last=False)
            self._bytes -= removed


def simulate(load: Load, cluster: Cluster, seed: int = 1) -> Outcome:
    """Return the figures of the second half, when caches are filled."""
    dice = random.Random(seed)
    sizes = [int(load.median_bytes * dice.lognormvariate(0, load.sigma)) for _ in range(load.repositories)]
    generations = [0] * load.repositories
    nodes = [_Node(cluster.cache_bytes) for _ in range(cluster.nodes)]
    counts: Counter[str] = Counter()
    cold: list[float] = []
    for number, repository in enumerate(_chosen(load, dice)):
        if number == load.events // 2:
            counts.clear()
            cold.clear()
        node = nodes[
            repository * 2_654_435_761 % 2**32 % cluster.nodes
            if cluster.hashes_by_path
            else dice.randrange(cluster.nodes)
        ]
        had, size, current = node.generation(repository), sizes[repository], generations[repository]
        counts["statements"] += _READ_STATEMENTS
        if had == current:
            counts["hits"] += 1
        else:
            counts["statements"] += _UPDATE_STATEMENTS
            requests = _REQUESTS_PER_PACK * (_PACKS if had is None else current - had)
            if had is None:
                requests += size // _RANGE_BYTES
                cold.append(2 * cluster.seconds_per_request + size / cluster.bytes_per_second)
            counts["requests"] += requests
            counts["bytes"] += size if had is None else (current - had) * _PUSHED_BYTES
        if dice.random() < load.push_share:
            generations[repository] = current = current + 1
            sizes[repository] = size = size + _PUSHED_BYTES
            counts["requests"] += _REQUESTS_PER_PACK
            counts["statements"] += _PUSH_STATEMENTS
        node.store(repository, current, size)
    return _outcome(counts, cold, load.events - load.events // 2)


def _chosen(load: Load, dice: random.Random) -> Iterator[int]:
    """Yield the repository of each event."""
    weights = list(accumulate(rank**-load.exponent for rank in range(1, load.repositories + 1)))
    for _ in range(load.events):
        yield min(bisect(weights, dice.random() * weights[-1]), load.repositories - 1)


def _outcome(counts: Counter[str], cold: Sequence[float], events: int) -> Outcome:
    share = 1000 / events
    percentile = sorted(cold)[len(cold) * 95 // 100] if cold else 0.0
    figures = (counts["requests"] * share, counts["statements"] * share, counts["bytes"] * share)
    return Outcome(counts["hits"] / events, *figures, percentile)


def main() -> None:
    """Print a table for several sizes of clusters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache-gb", type=float, default=20)
    parser.add_argument("--repositories", type=int, default=Load().repositories)
    parser.add_argument("--events", type=int, default=Load().events)
    arguments = parser.parse_args()
    load = Load(repositories=arguments.repositories, events=arguments.events)
    print("Per 1,000 requests of clients:\n")
    print("| Nodes | Chosen | Hit rate | Bucket requests | Statements | Downloaded | Cold read, 95 % |\n|" + "---|" * 7)
    for count in (3, 10, 30, 100):
        for by_path in (False, True):
            found = simulate(load, Cluster(count, int(arguments.cache_gb * 2**30), by_path))
            cells = (
                *(str(count), "by path" if by_path else "at random", f"{found.hit_share:.1%}"),
                *(
                    f"{found.bucket_requests:,.0f}",
                    f"{found.statements:,.0f}",
                    f"{found.downloaded_bytes / 1e6:,.0f} MB",
                ),
                f"{found.cold_seconds:.1f} s",
            )
            print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
