"""In-memory caches: one registry, one memory budget, one least-recently-used eviction.

``docs/caches.md`` lists every cache. A module declares its cache, which then holds nothing; the process sets the budget
when it starts (the setting ``cache_mb``). Each cache is guaranteed its share of the budget and may use more while other
caches use less.

See docs/subsystems/caches.md.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

DEFAULT_BUDGET_MB = 64
ENTRY_BYTES = 200
"""Memory of an entry besides its key and value: its place in the dictionary and the tuple around the value."""
_MAX_ENTRY_FRACTION = 4
"""An entry that takes more than this part of the budget is not stored: it would evict too much."""


class CacheStats(NamedTuple):
    """Figures of one cache, as the metrics show them."""

    name: str
    entries: int
    bytes: int
    hits: int
    misses: int


class CopyStats(NamedTuple):
    """Uses of the copies of repositories in a bucket by one process, and its downloads."""

    hits: int
    misses: int
    packs: int
    """Downloaded packs."""
    bytes: int
    """Size of these packs and their indexes."""


class CopiesSize(NamedTuple):
    """Copies of repositories in a bucket on the disk of this machine."""

    copies: int
    bytes: int


class BoundedCache(Generic[K, V]):
    """Least-recently-used cache, bounded by the budget of its registry; safe to use from any thread.

    Only for values that stay true: their key names immutable objects, or the value carries the state that it was read
    from and the caller compares it. ``None`` cannot be stored.
    """

    __slots__ = ("_entries", "_hits", "_misses", "_registry", "bytes", "name", "share")

    def __init__(self, name: str, share: float, registry: "CacheRegistry") -> None:
        self.name = name
        self.share = share
        """Percent of the budget that is guaranteed."""
        self.bytes = 0
        self._registry = registry
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._hits = 0
        self._misses = 0

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        with self._registry.lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """Return the values of the keys that are stored."""
        values: dict[K, V] = {}
        lookups = 0
        with self._registry.lock:
            for key in keys:
                lookups += 1
                entry = self._entries.get(key)
                if entry is not None:
                    self._entries.move_to_end(key)
                    values[key] = entry[0]
            self._hits += len(values)
            self._misses += lookups - len(values)
        return values

    def put(self, key: K, value: V, size: int) -> V:
        """Store a value; return it. ``size`` is the memory of key and value together, in bytes."""
        size += ENTRY_BYTES
        with self._registry.lock:
            self._remove(key)
            if size <= self._registry.largest_entry:
                self._entries[key] = value, size
                self._grow(size)
                self._registry.evict()
        return value

    def discard(self, keys: Iterable[K]) -> None:
        """Remove some keys, if they are stored."""
        with self._registry.lock:
            for key in keys:
                self._remove(key)

    def clear(self) -> None:
        """Remove everything."""
        with self._registry.lock:
            self._entries.clear()
            self._grow(-self.bytes)

    def stats(self) -> CacheStats:
        """Return the current figures."""
        with self._registry.lock:
            return CacheStats(self.name, len(self._entries), self.bytes, self._hits, self._misses)

    def evict(self, limit: int) -> None:
        """Remove the least recently used entries while the cache exceeds ``limit`` and the registry its budget.

        The caller holds the registry's lock.
        """
        while self.bytes > limit and self._registry.exceeds_budget:
            _, (_, size) = self._entries.popitem(last=False)
            self._grow(-size)

    def _remove(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._grow(-entry[1])

    def _grow(self, size: int) -> None:
        self.bytes += size
        self._registry.bytes += size


class CacheRegistry:
    """All caches of a process and their common memory budget."""

    def __init__(self, budget_bytes: int = DEFAULT_BUDGET_MB * 2**20) -> None:
        # One lock for all caches: eviction moves memory from one to another, and nothing slow happens under it.
        self.lock = threading.Lock()
        self.bytes = 0
        self._budget = budget_bytes
        self._shares = 0.0
        self._caches: dict[str, BoundedCache[Any, Any]] = {}

    @property
    def budget_bytes(self) -> int:
        """Return the memory that all caches together may use."""
        return self._budget

    @property
    def exceeds_budget(self) -> bool:
        """Return whether the caches together use more than the budget."""
        return self.bytes > self._budget

    @property
    def largest_entry(self) -> int:
        """Return the size of the largest entry that may be stored."""
        return self._budget // _MAX_ENTRY_FRACTION

    def declare(self, name: str, *, share: float) -> BoundedCache[Any, Any]:
        """Add an empty cache that is guaranteed ``share`` percent of the budget."""
        cache: BoundedCache[Any, Any] = BoundedCache(name, share, self)
        # Under the lock, because modules are imported while other threads use the caches.
        with self.lock:
            if name in self._caches:
                raise ValueError(f"There are two caches with the name {name}")
            self._caches[name] = cache
            self._shares += share
        return cache

    def configure(self, budget_bytes: int) -> None:
        """Set the budget; evict what exceeds it."""
        with self.lock:
            self._budget = budget_bytes
            self.evict()

    def evict(self) -> None:
        """Evict entries until all caches fit in the budget, from the caches that exceed their shares the most.

        The caller holds the lock.
        """
        while self.exceeds_budget:
            # The guaranteed sizes add up to no more than the budget, so the cache found here exceeds its own.
            cache = max(self._caches.values(), key=lambda each: each.bytes / each.share)
            cache.evict(self.guaranteed_bytes(cache))

    def guaranteed_bytes(self, cache: BoundedCache[Any, Any]) -> int:
        """Return the memory that a cache may use regardless of the others."""
        return int(self._budget * cache.share / max(100.0, self._shares))

    def caches(self) -> list[BoundedCache[Any, Any]]:
        """Return all caches, sorted by name."""
        return sorted(self._caches.values(), key=lambda cache: cache.name)

    def stats(self) -> list[CacheStats]:
        """Return the figures of all caches, sorted by name."""
        return [cache.stats() for cache in self.caches()]


REGISTRY = CacheRegistry()
"""Registry of this process; ``server/app.py`` sets its budget."""


def declare_cache(name: str, *, share: float) -> BoundedCache[K, V]:
    """Declare a cache of this process that is guaranteed ``share`` percent of the memory budget.

    ``docs/caches.md`` must describe it, and the shares of all caches must add up to 100.
    """
    return REGISTRY.declare(name, share=share)
