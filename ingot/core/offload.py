"""Guards that keep long work off the event loop and out of write transactions, and cancellation of such work."""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class _ThreadState(threading.local):
    inline = False
    is_cancelled: Callable[[], bool] | None = None
    in_transaction = False

    def __init__(self) -> None:
        self.results: dict[Hashable, Any] = {}
        """Results of ``outside_transaction`` for the transaction that needs them."""


class _ProcessState:
    interrupts_transactions = True


_thread_state = _ThreadState()


class WouldBlock(Exception):
    """Raised before work that would block the event loop; the caller repeats the work in a thread."""


class TransactionInterrupted(BaseException):
    """Raised in a transaction before long work; no handler of ordinary errors may catch it.

    The transaction is rolled back and repeated after ``work``, which runs while no lock is held.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(work)
        self.work = work


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


@contextmanager
def forbid_long_work() -> Iterator[None]:
    """Forbid long work in this thread within the context, because others wait for the locks of its transaction."""
    _thread_state.in_transaction = _ProcessState.interrupts_transactions
    try:
        yield
    finally:
        _thread_state.in_transaction = False


def allow_long_work_in_transactions() -> None:
    """Never interrupt transactions of this process, for servers of tests that draw secrets from a sequence.

    A transaction that is repeated draws others than one that is not.
    """
    _ProcessState.interrupts_transactions = False


def require_no_transaction(work: Callable[[], object]) -> None:
    """Raise ``TransactionInterrupted`` in a transaction; called before what ``work`` does.

    After ``work``, the same transaction must no longer get here.
    """
    if _thread_state.in_transaction:
        raise TransactionInterrupted(work)


def outside_transaction(key: Hashable, compute: Callable[[], T]) -> T:
    """Return the result of a long computation; a transaction is rolled back for it, and repeated with the result."""
    results = _thread_state.results
    if key in results:
        result: T = results[key]
        return result
    require_no_transaction(lambda: results.__setitem__(key, compute()))
    return compute()


def forget_results() -> None:
    """Forget the results for a transaction that has ended."""
    _thread_state.results.clear()
