"""Keeps long work off the event loop: reads run inline there, and whatever would hold it up says so first."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Here(threading.local):
    inline = False


_here = _Here()


class TooLong(Exception):
    """The work would hold up an event loop; whoever runs it inline runs it again in a thread."""


@contextmanager
def inline() -> Iterator[None]:
    """Mark this thread as one that must not wait."""
    _here.inline = True
    try:
        yield
    finally:
        _here.inline = False


def expect_a_wait() -> None:
    """Say that a process is started, or much is computed, next; raises ``TooLong`` where that must not be."""
    if _here.inline:
        raise TooLong
