"""Thread pool of a worker; the threads are long-lived because each has its own database connections."""

import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from ingot.core.jobs.tables import Job


class WorkerThreads:
    """Runs jobs concurrently; all public methods must be called from one controlling thread."""

    def __init__(self, size: int, perform: Callable[[Job], None]) -> None:
        self._size = size
        self._perform = perform
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._finished: deque[Job] = deque()
        self._running: dict[int, Job] = {}
        self._started = 0
        self.wakeup_fd, self._wakeup_write_fd = os.pipe()
        """Becomes readable when a job has ended."""
        os.set_blocking(self.wakeup_fd, False)

    @property
    def free(self) -> int:
        """The number of idle threads."""
        return self._size - len(self._running)

    @property
    def running(self) -> list[Job]:
        """The running jobs."""
        return list(self._running.values())

    def saturated_kinds(self) -> Sequence[str]:
        """Return the kinds that may not use the last free thread, so that long imports cannot block mail."""
        counts = Counter(job.kind for job in self._running.values())
        return [kind for kind, count in counts.items() if count >= self._size - 1]

    def start(self, job: Job) -> None:
        """Run a job in an idle thread, or in a new one."""
        self._running[job.id] = job
        if len(self._running) > self._started:
            self._started += 1
            # Daemon threads: a handler that hangs must not keep the process from exiting.
            threading.Thread(target=self._work, name=f"jobs-{self._started}", daemon=True).start()
        self._queue.put(job)

    def collect(self) -> None:
        """Remove ended jobs from the running ones."""
        try:
            os.read(self.wakeup_fd, 4096)
        except BlockingIOError:
            pass
        while self._finished:
            self._running.pop(self._finished.popleft().id, None)

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            try:
                self._perform(job)
            finally:
                self._finished.append(job)
                os.write(self._wakeup_write_fd, b"!")
