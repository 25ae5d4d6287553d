"""Thread of a process with an event loop that waits for the database and reports to the loop."""

import asyncio
import os
import select
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable


class MonitorThread(ABC):
    """Thread that starts with the first use, so that processes without a use have none."""

    thread_name: str

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop, self._stopper = -1, -1

    def start(self) -> None:
        """Start the thread, if it is not running; called on the event loop."""
        if self._thread is None:
            self._stop, self._stopper = os.pipe()
            self._loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, name=self.thread_name, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        if self._thread is not None and self._stopper >= 0:
            os.close(self._stopper)
            self._stopper = -1
            self._thread.join()
            os.close(self._stop)

    @abstractmethod
    def _run(self) -> None:
        """Wait for the database until ``_is_stopped``."""

    def _is_stopped(self, seconds: float = 0.0) -> bool:
        return bool(select.select([self._stop], [], [], seconds)[0])

    def _call_on_loop(self, function: Callable[..., object], *values: object) -> None:
        assert self._loop is not None  # noqa: S101 - The thread is started on the loop.
        try:
            self._loop.call_soon_threadsafe(function, *values)
        except RuntimeError:  # The event loop has ended.
            pass
