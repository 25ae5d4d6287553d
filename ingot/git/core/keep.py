"""What was once read of a repository and can never change, kept in memory within bounds."""

import sys
from collections.abc import Hashable
from typing import TypeVar

from ingot.git.core.cache import BoundedCache

V = TypeVar("V")
_ENTRY_BYTES = 200
"""What an entry takes besides what it holds."""


class ImmutableCache(BoundedCache[Hashable, V]):
    """Any number of values by immutable keys, such as ids of commits; only the bytes that they take are bounded."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(sys.maxsize, max_bytes, largest=max_bytes)

    def put(self, key: Hashable, value: V, size: int = 0) -> V:
        """Keep a value of about this many bytes, unless it alone is too large; gives it back."""
        return super().put(key, value, size + _ENTRY_BYTES)
