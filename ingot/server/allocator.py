"""Memory that a process needs while it starts and does not need afterwards."""

import ctypes
import gc

_M_ARENA_MAX = -8
"""Number of the option in ``malloc.h`` of glibc."""
_GARBAGE_THRESHOLDS = 5_000, 5, 4
"""New objects after which the youngest are searched for garbage; how often until those that survived are searched, too,
and how often these until all are.

Statements that a cache has evicted are garbage among the oldest, found only when all objects are searched: with (5,000,
10, 10), lists with 2,400 combinations of filters took a web worker 112 MB instead of 79.
"""
_LARGE_BYTES = 100_000
"""Enough that malloc sorts its free chunks, but not enough for a mapping of its own."""


def compact_heap() -> None:
    """Return freed memory to the system, and let the threads of this process and its children share one heap.

    With a heap for each thread, an idle server takes 4 MB more. Threads hardly wait for each other here, because they
    rarely allocate memory at the same time.

    The first large allocation after many small ones were freed sorts the free chunks, and writes to every page that
    has one. It is made before the fork, because each child would copy these pages (1.4 MB).
    """
    library = ctypes.CDLL(None)
    try:
        library.mallopt(_M_ARENA_MAX, 1)
        library.malloc_trim(0)
        bytes(_LARGE_BYTES)
    except AttributeError:  # Another C library.
        return


def begin_collecting() -> None:
    """Exclude the objects created so far, which live until exit, from garbage collection, and collect others often.

    With the threshold of the start, which is high because imports leave hardly any garbage, the process of SSH and jobs
    found its garbage only after 48 minutes of a steady load.
    """
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
