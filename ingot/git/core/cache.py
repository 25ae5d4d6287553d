"""A bounded memory for what never changes, since its key names objects by their ids."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Keeps what was used last, up to a number of entries and of bytes; any thread may ask.

    What alone is larger than ``largest``, or else than half of all, is not kept: it would drive out the rest.
    """

    def __init__(self, most_entries: int, max_bytes: int, largest: int | None = None) -> None:
        self.bytes = 0
        self._most_entries = most_entries
        self._most_bytes = max_bytes
        self._largest = max_bytes // 2 if largest is None else largest
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """What is remembered under a key, if anything."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> V:
        """Remember a value of about this many bytes, unless it is too large; gives it back."""
        with self._lock:
            self.bytes -= self._kept.pop(key, (None, 0))[1]
            if size <= self._largest:
                self._kept[key] = value, size
                self.bytes += size
            while self.bytes > self._most_bytes or len(self._kept) > self._most_entries:
                _, (_, freed) = self._kept.popitem(last=False)
                self.bytes -= freed
        return value
