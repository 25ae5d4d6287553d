"""What was once read of a repository and can never change, kept in memory within bounds."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")
_ENTRY_BYTES = 200
"""What an entry takes besides what it holds."""


class Keeper(Generic[V]):
    """Values by immutable keys, such as ids of commits; the one that was not asked for the longest goes first."""

    def __init__(self, most_bytes: int) -> None:
        self.bytes = 0
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """What is kept under this key, if anything."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, value: V, size: int = 0) -> V:
        """Keep a value of about this many bytes, unless it alone is too large; gives it back."""
        size += _ENTRY_BYTES
        with self._lock:
            self.bytes -= self._kept.pop(key, (None, 0))[1]
            if size <= self._most_bytes:
                self._kept[key] = value, size
                self.bytes += size
            while self.bytes > self._most_bytes:
                _, (_, dropped) = self._kept.popitem(last=False)
                self.bytes -= dropped
        return value
