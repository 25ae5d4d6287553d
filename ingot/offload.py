"""Guard that keeps blocking work off the event loop, where read requests run inline."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _ThreadState(threading.local):
    inline = False


_thread_state = _ThreadState()


class WouldBlock(Exception):
    """Raised before work that would block the event loop; the caller repeats the work in a thread."""


@contextmanager
def forbid_blocking() -> Iterator[None]:
    """Forbid blocking work in this thread within the context."""
    _thread_state.inline = True
    try:
        yield
    finally:
        _thread_state.inline = False


def require_blocking_allowed() -> None:
    """Raise ``WouldBlock`` in the event loop's thread; called before a process is started or a long computation."""
    if _thread_state.inline:
        raise WouldBlock
