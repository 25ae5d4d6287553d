"""Version of the queue in the memory of a web worker, which is woken when any process changes it."""

import asyncio
import os
import select
import threading
from contextlib import closing

from ingot.ci.runners.queue_version import queue_version
from ingot.core.db.database import Database
from ingot.errors import Conflict, Unavailable
from ingot.log import log_failure

ROLE = "runner-polls"
_WAIT_SECONDS = 30.0
_RETRY_SECONDS = 1.0


class QueueMonitor:
    """Thread that waits for commits and reads the version; it starts with the first poll of a runner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._changed = asyncio.Event()
        self._thread: threading.Thread | None = None
        self._stop, self._stopper = -1, -1

    @property
    def version(self) -> int | None:
        """Return the newest version that this process knows; None before it is known or while it is not."""
        return self._version

    def start(self) -> None:
        """Start the thread, if it is not running; called on the event loop."""
        if self._thread is None:
            self._stop, self._stopper = os.pipe()
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, args=(loop,), name="queue monitor", daemon=True)
            self._thread.start()

    async def wait_for_change(self, version: int) -> None:
        """Return when the version is another one than ``version``, or when waiting was ended."""
        if self._version == version:
            await self._changed.wait()

    def wake_all(self) -> None:
        """End all waiting; called on the event loop."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def close(self) -> None:
        """Stop the thread."""
        if self._thread is not None and self._stopper >= 0:
            os.close(self._stopper)
            self._stopper = -1
            self._thread.join()
            os.close(self._stop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not self._is_stopped(0.0):
                try:
                    version: int | None = self._database.read(queue_version)
                except (Unavailable, Conflict) as error:
                    log_failure("version of the queue not read", error)
                    version = None
                if version != self._version:
                    self._version = version
                    self._announce(loop)
                if version is None and self._is_stopped(_RETRY_SECONDS):
                    return
                watch.wait(_WAIT_SECONDS, [self._stop])

    def _is_stopped(self, seconds: float) -> bool:
        return bool(select.select([self._stop], [], [], seconds)[0])

    def _announce(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon_threadsafe(self.wake_all)
        except RuntimeError:  # The event loop has ended.
            pass
