"""The few threads of a worker; they last, because each has connections of its own."""

import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from ingot.core.jobs.tables import Job


class WorkerThreads:
    """Runs jobs side by side; all methods are for the one thread that leads it."""

    def __init__(self, size: int, perform: Callable[[Job], None]) -> None:
        self._size = size
        self._perform = perform
        self._given: SimpleQueue[Job] = SimpleQueue()
        self._done: deque[Job] = deque()
        self._running: dict[int, Job] = {}
        self._threads = 0
        self.wakeup_fd, self._ringer = os.pipe()
        """Can be read once a job has come to an end."""
        os.set_blocking(self.wakeup_fd, False)

    @property
    def free(self) -> int:
        """How many more jobs can be run."""
        return self._size - len(self._running)

    @property
    def running(self) -> list[Job]:
        """The jobs that run."""
        return list(self._running.values())

    def saturated_kinds(self) -> Sequence[str]:
        """Kinds that may not have the last free thread too: many long imports must not hold up the mail."""
        counts = Counter(job.kind for job in self._running.values())
        return [kind for kind, count in counts.items() if count >= self._size - 1]

    def start(self, job: Job) -> None:
        """Run a job in a thread that is free, or in a new one."""
        self._running[job.id] = job
        if len(self._running) > self._threads:
            self._threads += 1
            # Daemons: a handler that hangs must not keep the process from ending.
            threading.Thread(target=self._work, name=f"jobs-{self._threads}", daemon=True).start()
        self._given.put(job)

    def collect(self) -> None:
        """Note which jobs have come to an end."""
        try:
            os.read(self.wakeup_fd, 4096)
        except BlockingIOError:
            pass
        while self._done:
            self._running.pop(self._done.popleft().id, None)

    def _work(self) -> None:
        while True:
            job = self._given.get()
            try:
                self._perform(job)
            finally:
                self._done.append(job)
                os.write(self._ringer, b"!")
