"""Simulation of caches of repositories in a bucket."""

from bench.bucket_simulation import Cluster, Load, simulate

LOAD = Load(repositories=2_000, events=20_000)


def test_hashing_by_path_raises_the_hit_rate() -> None:
    by_path, at_random = (simulate(LOAD, Cluster(10, 2**30, hashes)) for hashes in (True, False))
    assert by_path.hit_share > at_random.hit_share
    assert by_path.bucket_requests < at_random.bucket_requests


def test_one_node_with_a_large_cache_only_uploads() -> None:
    """Once each repository was read, nothing is downloaded any more."""
    few = LOAD._replace(repositories=20)
    found = simulate(few, Cluster(1, 2**50, hashes_by_path=False))
    assert found.hit_share == 1 and found.downloaded_bytes == 0
    uploads = 2 * 1000 * few.push_share
    assert 0.5 * uploads < found.bucket_requests < 1.5 * uploads


def test_a_larger_cache_is_never_worse() -> None:
    small, large = (simulate(LOAD, Cluster(3, size, hashes_by_path=True)) for size in (2**28, 2**34))
    assert large.hit_share > small.hit_share and large.cold_seconds >= 0
