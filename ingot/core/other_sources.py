"""Record of what a read used besides rows; its result may change without a commit."""

import threading
from collections.abc import Callable
from typing import Literal, TypeVar

T = TypeVar("T")
Source = Literal["repository", "time of day"]


class _ThreadState(threading.local):
    used: frozenset[Source] = frozenset()


_thread_state = _ThreadState()
_NONE: frozenset[Source] = frozenset()


def note_source(source: Source) -> None:
    """Record that this thread is about to use something that is not a row."""
    if source not in _thread_state.used:
        _thread_state.used |= {source}


def watch_sources(read: Callable[[], T]) -> tuple[T, frozenset[Source]]:
    """Call ``read``; return its result, and what it used besides rows."""
    outer, _thread_state.used = _thread_state.used, _NONE
    try:
        result = read()
        return result, _thread_state.used
    finally:
        _thread_state.used |= outer
