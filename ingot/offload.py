"""Guard that keeps blocking work off the event loop, where read requests run inline, and cancellation of such work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _ThreadState(threading.local):
    inline = False
    is_cancelled: Callable[[], bool] | None = None


_thread_state = _ThreadState()


class WouldBlock(Exception):
    """Raised before work that would block the event loop; the caller repeats the work in a thread."""


class Cancelled(Exception):
    """Raised within work whose result is no longer needed, such as a response to a client that has disconnected."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let long work of this thread within the context end with ``Cancelled`` once ``is_cancelled`` returns true."""
    previous, _thread_state.is_cancelled = _thread_state.is_cancelled, is_cancelled
    try:
        yield
    finally:
        _thread_state.is_cancelled = previous


@contextmanager
def cancellable_if(condition: Callable[[], bool]) -> Iterator[None]:
    """Let the work of this thread within the context be cancelled only while the condition holds."""
    outer = _thread_state.is_cancelled
    with cancellable(lambda: outer is not None and condition() and outer()):
        yield


def raise_if_cancelled() -> None:
    """Raise ``Cancelled`` if the work of this thread is no longer needed; called in each step of a long loop."""
    if _thread_state.is_cancelled is not None and _thread_state.is_cancelled():
        raise Cancelled


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
