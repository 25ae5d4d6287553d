"""The memory allocator of the C library, in processes that are about to be forked."""

import ctypes

_M_ARENA_MAX = -8
"""Number of the option in ``malloc.h`` of glibc."""


def compact_heap() -> None:
    """Return freed memory to the system, and let the threads of this process and its children share one heap.

    With a heap for each thread, an idle server takes 4 MB more. Threads hardly wait for each other here, because they
    rarely allocate memory at the same time.
    """
    library = ctypes.CDLL(None)
    try:
        library.mallopt(_M_ARENA_MAX, 1)
        library.malloc_trim(0)
    except AttributeError:  # Another C library.
        return
