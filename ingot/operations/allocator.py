"""Memory that a process needs while it starts and does not need afterwards."""

import ctypes
import mmap
from pathlib import Path

_M_ARENA_MAX = -8
"""Number of the option in ``malloc.h`` of glibc."""
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


def release_code() -> None:
    """Unmap the pages of library code from this process; those that still run are mapped again from the file cache.

    The supervisor has run most of it once, while it built the application, and its children map what they use.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, inode, *_ = line.split()
        # Code is never written, so no page can be lost.
        if permissions == "r-xp" and inode != "0":
            begin, end = (int(address, 16) for address in addresses.split("-"))
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), mmap.MADV_DONTNEED)
