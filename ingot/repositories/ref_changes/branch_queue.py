"""Queue of the requests of one process that change the same branch, in the order of their arrival.

Without it, all but one of several concurrent requests would build their commits in vain, because the branch has moved
when they update it. Requests of other processes still compete for the branch; a request that loses builds its commit
again.
"""

import threading
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from ingot.core.errors import Conflict

PATIENCE_SECONDS = 30.0
"""Bound of the wait for the turn, and of the time for which a request tries again while others move the branch."""
BUSY_BRANCH = "The branch is being changed by other requests. Please try again."


class BranchQueue:
    """Turns of requests by project and branch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Hashable, deque[threading.Event]] = {}

    @contextmanager
    def turn(self, project_id: int, branch: str) -> Iterator[None]:
        """Wait until all earlier requests for a branch have ended; raise ``Conflict`` if that takes too long."""
        key, turn = (project_id, branch), threading.Event()
        with self._lock:
            queue = self._waiting.setdefault(key, deque())
            queue.append(turn)
            if queue[0] is turn:
                turn.set()
        try:
            if not turn.wait(PATIENCE_SECONDS):
                raise Conflict(BUSY_BRANCH)
            yield
        finally:
            with self._lock:
                queue.remove(turn)
                if queue:
                    queue[0].set()
                else:
                    del self._waiting[key]

    def length(self, project_id: int, branch: str) -> int:
        """Return the number of requests that change a branch or wait for it."""
        with self._lock:
            return len(self._waiting.get((project_id, branch), ()))


branch_queue = BranchQueue()
"""The queue of this process; commits and merges share it."""
