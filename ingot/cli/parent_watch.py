"""Option ``--die-with-parent``: stop the server when the process that started it has ended, however it ended."""

import os
import select
import signal
import sys
import threading
import time

_POLL_SECONDS = 0.5


def stop_with_parent() -> None:
    """Send this process SIGTERM when its parent ends.

    A thread waits for the end of the process. The kernel's own signal for this (PR_SET_PDEATHSIG) would also arrive
    when only the thread that started the server ends.
    """
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(parent)
        except OSError:  # The parent has ended already, or the kernel is older than 5.3.
            descriptor = None
        if descriptor is not None and os.getppid() == parent:
            select.select([descriptor], [], [])
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
