"""Fair queue for the write lock of an SQLite file, across threads and processes.

SQLite makes writers sleep and try again, which is no queue: a process that writes without a pause gets the lock each
time, and others wait for seconds. Here writers wait their turn before they ask SQLite, which then has the lock free.
The queue is advisory: other programs that write to the file are still kept apart by SQLite's own lock.
"""

import fcntl
import os
import threading
import time
from collections import deque
from pathlib import Path

from ingot.core.log import log_failure

_FIRST_PAUSE_SECONDS = 0.0002
_MAX_PAUSE_SECONDS = 0.005


class WriteQueue:
    """Queue of the writers of one file.

    Threads of a process take turns in the order in which they came. Between processes two locks of the kernel give the
    turns: the holder of the first is next in line for the second, which is held during the transaction. A process that
    has just written must get in line again behind the process that is next. The kernel releases the locks of a process
    that ends.
    """

    def __init__(self, path: Path) -> None:
        self._next_path = path.with_name(f".{path.name}.next")
        self._turn_path = path.with_name(f".{path.name}.turn")
        self._threads = ThreadQueue()
        self._files: tuple[int, int] | None = None

    def enter(self, seconds: float) -> None:
        """Wait for the turn of this thread; raise ``TimeoutError``."""
        deadline = time.monotonic() + seconds
        self._threads.enter(seconds)
        try:
            self._take_turn(deadline)
        except BaseException:
            self._threads.leave()
            raise

    def leave(self) -> None:
        """End the turn."""
        if self._files is not None:
            fcntl.lockf(self._files[1], fcntl.LOCK_UN)
        self._threads.leave()

    def close(self) -> None:
        """Close the lock files."""
        if self._files is not None:
            for file in self._files:
                os.close(file)
            self._files = None

    def _take_turn(self, deadline: float) -> None:
        if self._files is None:
            try:
                self._files = _open(self._next_path), _open(self._turn_path)
            except OSError as error:  # SQLite writes without a queue, or reports what is wrong with the directory.
                log_failure("write queue unavailable", error)
                return
        next_file, turn_file = self._files
        try:
            _lock(next_file, deadline)
            try:
                _lock(turn_file, deadline)
            finally:
                fcntl.lockf(next_file, fcntl.LOCK_UN)
        except TimeoutError:
            raise
        except OSError as error:  # A file system without locks; SQLite has its own ways on it.
            log_failure("write queue unavailable", error)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(file: int, deadline: float) -> None:
    """Take a lock that other processes hold briefly; the kernel has no wait with a time limit."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() + pause > deadline:
                raise TimeoutError from None
            time.sleep(pause)
            pause = min(pause * 1.25, _MAX_PAUSE_SECONDS)
        else:
            return


class ThreadQueue:
    """Lock that threads get in the order in which they asked for it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._taken = False
        self.waiting: deque[threading.Lock] = deque()
        """A locked lock of each thread that waits, the longest first."""

    def enter(self, seconds: float) -> None:
        """Wait until all earlier threads have left; raise ``TimeoutError``."""
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            turn = threading.Lock()
            turn.acquire()
            self.waiting.append(turn)
        if turn.acquire(timeout=seconds):
            return
        with self._mutex:
            if turn in self.waiting:
                self.waiting.remove(turn)
                raise TimeoutError
        # The turn came at the same moment.

    def leave(self) -> None:
        """Give the lock to the thread that waits longest."""
        with self._mutex:
            if self.waiting:
                self.waiting.popleft().release()
            else:
                self._taken = False
