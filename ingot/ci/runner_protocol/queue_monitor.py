"""Version of the queue in the memory of a web worker, which is woken when any process changes it."""

import asyncio
from contextlib import closing

from ingot.ci.runners.queue_version import queue_version
from ingot.core.db.database import Database
from ingot.core.db.monitor_thread import MonitorThread
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import log_failure

ROLE = "runner-polls"
_WAIT_SECONDS = 30.0
_RETRY_SECONDS = 1.0


class QueueMonitor(MonitorThread):
    """Thread that waits for commits and reads the version; it starts with the first poll of a runner."""

    thread_name = "queue monitor"

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._version: int | None = None
        self._changed = asyncio.Event()

    @property
    def version(self) -> int | None:
        """Return the newest version that this process knows; None before it is known or while it is not."""
        return self._version

    async def wait_for_change(self, version: int) -> None:
        """Return when the version is another one than ``version``, or when waiting was ended."""
        if self._version == version:
            await self._changed.wait()

    def wake_all(self) -> None:
        """End all waiting; called on the event loop."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _run(self) -> None:
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not self._is_stopped():
                try:
                    version: int | None = self._database.read(queue_version)
                except (Unavailable, Conflict) as error:
                    log_failure("version of the queue not read", error)
                    version = None
                if version != self._version:
                    self._version = version
                    self._call_on_loop(self.wake_all)
                if version is None and self._is_stopped(_RETRY_SECONDS):
                    return
                watch.wait(_WAIT_SECONDS, [self._stop])
