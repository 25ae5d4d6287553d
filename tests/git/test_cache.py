"""Registry of caches: eviction within the budget, shares, threads, and accuracy of the accounted sizes."""

import gc
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, ModuleType
from typing import Any

import pytest

from ingot.core.cache import ENTRY_BYTES, REGISTRY, BoundedCache, CacheRegistry
from ingot.git.core.refs import HEADS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import sorted_refs
from ingot.git.diffs.diffs import diff_between
from ingot.git.diffs.stats import commit_stats
from ingot.git.history.commits import read_commits
from ingot.git.history.contributors import read_contributors
from ingot.git.history.divergence import count_divergence
from ingot.git.history.folder_commits import last_commits
from ingot.git.history.last_commit import last_commit_id
from ingot.git.history.log import ALL_COMMITS, list_commits, refs_containing
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.history.merged_branches import merged_branches
from ingot.git.history.ref_dates import sort_by_date
from ingot.git.history.tree_commits import find_tree_commits
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.blobs import content_digest, read_blob
from ingot.git.trees.entries import entry_or_none
from ingot.git.trees.file_names import list_file_names
from ingot.git.trees.listing import list_tree
from ingot.git.trees.search import search_files
from tests.git_history import History

LARGE_BUDGET = 10 * 2**20


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def test_the_least_recently_used_entry_is_evicted_first() -> None:
    cache = CacheRegistry(4 * (ENTRY_BYTES + 100)).declare("one", share=100)
    for key in "abcd":
        assert cache.put(key, key.upper(), 100) == key.upper()
    assert cache.get("a") == "A"
    cache.put("e", "E", 100)
    assert [cache.get(key) for key in "abcde"] == ["A", None, "C", "D", "E"]
    assert cache.stats() == ("one", 4, 4 * (ENTRY_BYTES + 100), 5, 1)


def test_an_entry_that_is_too_large_is_not_stored() -> None:
    cache = CacheRegistry(10_000).declare("one", share=100)
    cache.put("small", 1, 100)
    assert cache.put("large", 2, 2_500) == 2
    assert (cache.get("large"), cache.get("small")) == (None, 1)


def test_a_newer_value_replaces_the_old_one_and_its_size() -> None:
    cache = CacheRegistry(LARGE_BUDGET).declare("one", share=100)
    for size in (5000, 100, 300):
        cache.put("key", size, size)
    assert cache.get("key") == 300
    assert cache.bytes == ENTRY_BYTES + 300
    cache.discard(["key", "unknown"])
    assert cache.bytes == 0


def test_a_cache_borrows_unused_budget_and_returns_it() -> None:
    registry = CacheRegistry(100 * (ENTRY_BYTES + 100))
    large, small = registry.declare("large", share=80), registry.declare("small", share=20)
    for number in range(200):
        small.put(number, number, 100)
    assert small.stats().entries == 100
    for number in range(200):
        large.put(number, number, 100)
    assert (large.stats().entries, small.stats().entries) == (80, 20)
    assert small.get(199) == 199
    for number in range(200, 400):
        small.put(number, number, 100)
    assert (large.stats().entries, small.stats().entries) == (80, 20)


def test_a_smaller_budget_evicts_at_once() -> None:
    registry = CacheRegistry(LARGE_BUDGET)
    caches = [registry.declare(name, share=50) for name in ("one", "two")]
    for number in range(1_000):
        for cache in caches:
            cache.put(number, number, 100)
    registry.configure(LARGE_BUDGET // 100)
    assert 0 < registry.bytes <= LARGE_BUDGET // 100
    registry.configure(0)
    assert registry.bytes == 0
    assert caches[0].put("x", "X", 0) == "X"
    assert caches[0].get("x") is None


def test_shares_above_the_budget_are_scaled_down() -> None:
    registry = CacheRegistry(10_000)
    caches = [registry.declare(str(number), share=100) for number in range(3)]
    for number in range(300):
        caches[number % 3].put(number, number, 10)
    assert registry.bytes <= 10_000
    assert all(cache.bytes > 2_000 for cache in caches)


def test_two_caches_cannot_have_the_same_name() -> None:
    registry = CacheRegistry()
    registry.declare("one", share=1)
    with pytest.raises(ValueError, match="one"):
        registry.declare("one", share=1)


def test_threads_lose_no_bytes() -> None:
    registry = CacheRegistry(50 * (ENTRY_BYTES + 1))
    caches = [registry.declare(name, share=50) for name in ("one", "two")]

    def use(number: int) -> None:
        caches[number % 2].put(number % 200, number, 1)
        caches[number % 2].get((number + 7) % 200)
        caches[number % 2].get_many(range(5))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(5000)))
    assert registry.bytes == sum(cache.bytes for cache in caches) == 50 * (ENTRY_BYTES + 1)


def _deep_size(roots: Iterable[Any], seen: set[int]) -> int:
    """Return the memory of objects and all that they refer to, each counted once."""
    total, waiting = 0, list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one) + (16 if gc.is_tracked(one) else 0)
        waiting += gc.get_referents(one)
    return total


def _use_all(repository: Repository, ids: dict[int, str], tip: str) -> None:
    commits = read_commits(repository, [*ids.values()])
    commit_stats(repository, commits)
    heads = sorted_refs(repository, HEADS, 1)
    sort_by_date(repository, heads, newest_first=True)
    merged_branches(repository, heads, tip)
    count_divergence(repository, tip, [head.oid for head in heads])
    list_commits(repository, [tip], ALL_COMMITS, 0, 20)
    read_contributors(repository, tip)
    list_file_names(repository, tip)
    find_tree_commits(repository, tip)
    list_tree(repository, tip, b"", 0, 100, recursive=True)
    search_files(repository, tip, "line", lambda _: True, None)
    for commit in commits:
        refs_containing(repository, commit.oid, HEADS, 1)
        merge_base_or_none(repository, [commit.oid, tip])
        diff_between(repository, commit.parents[0] if commit.parents else None, commit.oid)
        for path in list_file_names(repository, commit.oid).paths[:20]:
            last_commit_id(repository, commit.oid, path.encode())
            entry = entry_or_none(repository, commit.oid, path.encode())
            if entry is not None:
                content_digest(read_blob(repository, entry.oid))
        window = list_tree(repository, commit.oid, b"", 0, 100)
        assert window is not None
        last_commits(repository, commit.oid, b"", [entry.name for entry in window.entries])


def test_accounted_sizes_are_close_to_the_memory_that_is_used(repository: Repository) -> None:
    """At most 1.6 times as much memory as accounted, and at least a third of it."""
    made = History()
    mark = 0
    for number in range(60):
        files = {f"folder-{number % 7}/file-{each}-{number}.txt": "line\n" * (each + 1) for each in range(5)}
        mark = made.commit(files=files, author=f"Author {number % 9} <author-{number % 9}@example.org>")
    for number in range(60):
        made.commit(f"branches/branch-{number}", files={"more": f"{number}\n"}, parents=(mark,))
    ids = made.into(repository)
    for cache in REGISTRY.caches():
        cache.clear()
    _use_all(repository, ids, ids[mark])
    filled = [cache for cache in REGISTRY.caches() if cache.stats().entries]
    assert len(filled) >= 15
    where = str(repository.path)
    ratios = {cache.name: _deep_size([cache._entries], {id(where)}) / cache.bytes for cache in filled}
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if not 0.33 < ratio < 1.6} == {}
    assert 0.6 < sum(_deep_size([cache._entries], set()) for cache in filled) / REGISTRY.bytes < 1.2


def test_importing_declares_and_allocates_nothing() -> None:
    cache: BoundedCache[str, str] = CacheRegistry().declare("one", share=100)
    assert cache.stats() == ("one", 0, 0, 0, 0)
