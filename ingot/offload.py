"""Keeps long work off the event loop: reads run inline there, and whatever would hold it up says so first."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _ThreadState(threading.local):
    inline = False


_thread_state = _ThreadState()


class WouldBlock(Exception):
    """The work would hold up an event loop; whoever runs it inline runs it again in a thread."""


@contextmanager
def forbid_blocking() -> Iterator[None]:
    """Mark this thread as one that must not wait."""
    _thread_state.inline = True
    try:
        yield
    finally:
        _thread_state.inline = False


def require_blocking_allowed() -> None:
    """Say that a process is started, or much is computed, next; raises ``WouldBlock`` where that must not be."""
    if _thread_state.inline:
        raise WouldBlock
