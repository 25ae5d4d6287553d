"""Monitor for a PostgreSQL server that stops answering, so that calls fail soon instead of waiting for it.

A statement has no limit of its own on this side: it may take long for good reasons. The monitor therefore asks the
server, by opening another connection, whether it still answers. If it does not, every waiting statement is ended and
new ones are refused until the server answers again. Statements on an event loop are ended earlier, because they delay
all other requests of the process; the caller repeats a read in a thread.
"""

import logging
import os
import socket
import threading
from asyncio import get_running_loop
from collections.abc import Callable, Iterable
from math import inf
from time import monotonic
from typing import Any

from ingot.core.errors import Unavailable
from ingot.core.offload import require_blocking_allowed

INLINE_SECONDS = 0.25
"""Limit of a statement on an event loop, for which every other request waits, also that for liveness."""
ENDED_SECONDS = 1.0
"""Time after which a statement of a stalled server is ended."""
SLOW_SECONDS = 1.5
"""Time after which a statement makes the monitor probe the server."""
PROBE_SECONDS = 1.0
"""Pause between two probes while statements take long."""
STALLED_PROBE_SECONDS = 0.2
"""Pause between two probes of a stalled server, each of which waits for seconds."""
LONG_SECONDS = 10.0
"""Time after which a probe of a stalled server waits longer, so that few are left to be answered when it continues."""
_TICK_SECONDS = 0.1
_IDLE_TICKS = 50
_SILENT = "The database does not answer"
_MAX_WAITING = 500
"""Statements that may wait for the next one; more would only take memory."""
ResultHandler = Callable[[Any, float], None]


def on_event_loop() -> bool:
    """Return whether this thread runs an event loop."""
    try:
        get_running_loop()
    except RuntimeError:  # Raised in every other thread.
        return False
    return True


class MonitoredConnection:
    """Driver connection whose running statement a ``StallMonitor`` can end from another thread."""

    def __init__(self, raw: Any, monitor: "StallMonitor", max_seconds: float = inf) -> None:
        self._raw = raw
        self.max_seconds = max_seconds
        """Limit of a statement in a thread."""
        self._monitor = monitor
        # A descriptor of its own, since the driver closes its descriptor at any time and the number is then reused.
        self._socket = socket.socket(fileno=os.dup(raw.fileno()))
        self.started = 0.0
        """Time at which the running statement was sent; 0 if none is running."""
        self.inline = False
        """Whether the statement delays an event loop."""
        self.interrupted = False
        """Whether the connection was ended because a statement took too long, by a server that may be well."""
        self._waiting: list[tuple[str, Any, ResultHandler | None]] = []
        """Statements that are sent together with the next one."""
        monitor.add(self)

    def execute(self, text: str, values: Any = None, **options: Any) -> Any:
        """Run a statement, after those that wait for it."""
        self.started = monotonic()
        self._monitor.wake()
        try:
            if self._waiting:
                return self._execute_batch(text, values)
            return self._raw.execute(text, values, **options)
        finally:
            self.started = 0.0

    def execute_later(self, text: str, values: Any = None, on_result: ResultHandler | None = None) -> None:
        """Run a statement together with the next one, then call ``on_result`` with the result and the seconds taken."""
        if len(self._waiting) >= _MAX_WAITING:
            self.flush()
        self._waiting.append((text, values, on_result))

    def executemany(self, text: str, rows: Iterable[Any]) -> None:
        """Run a statement for each row of values, together with the next statement."""
        for values in rows:
            self.execute_later(text, values)

    def flush(self) -> None:
        """Run the statements that wait for the next one."""
        if self._waiting:
            text, values, on_result = self._waiting.pop()
            sent = monotonic()
            cursor = self.execute(text, values)
            if on_result is not None:
                on_result(cursor, monotonic() - sent)

    def discard_waiting(self) -> None:
        """Forget the statements that wait for the next one."""
        self._waiting.clear()

    def _execute_batch(self, text: str, values: Any) -> Any:
        waiting, self._waiting = self._waiting, []
        with self._raw.pipeline():
            cursors = [self._raw.execute(earlier, bound) for earlier, bound, _ in waiting]
            cursor = self._raw.execute(text, values)
        for (_, _, on_result), result in zip(waiting, cursors, strict=True):
            if on_result is not None:
                on_result(result, monotonic() - self.started)
        return cursor

    def mark_inline(self, inline: bool) -> None:
        """Set whether the next statements run on an event loop."""
        self.inline = inline

    def end(self, *, interrupted: bool = False) -> None:
        """End the running statement; its thread gets the error of a lost connection."""
        self.interrupted = interrupted
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            # The connection has ended already.
            pass

    def close(self) -> None:
        """Close the connection."""
        self._monitor.remove(self)
        self._raw.close()
        self._socket.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class StallMonitor:
    """Thread that watches the running statements of a process, and sleeps while there are none."""

    def __init__(self, answers: Callable[..., bool], server_kind: str = "database") -> None:
        self._answers = answers
        self._server_kind = server_kind
        self._lock = threading.Lock()
        self._connections: set[MonitoredConnection] = set()
        self._thread: threading.Thread | None = None
        self._probe: threading.Thread | None = None
        self._parked = False
        self._awake = threading.Event()
        self._suspected = False
        self._stalled = False
        self._stalled_at = 0.0
        self._probed_at = 0.0

    @property
    def responsive(self) -> bool:
        """Whether nothing indicates that the server is stalled."""
        return not (self._stalled or self._suspected)

    def require_responsive(self) -> None:
        """Raise if the server does not answer, or on an event loop if that is not known.

        Under ``forbid_blocking``, ``WouldBlock`` is raised instead: the read is repeated in a thread, which may wait.
        """
        if self._stalled:
            raise Unavailable(_SILENT)
        if self._suspected and on_event_loop():
            require_blocking_allowed()
            raise Unavailable(_SILENT)

    def suspect(self) -> None:
        """Probe the server at once, and keep event loops off it until it answers."""
        self._suspected = True
        self._probed_at = 0.0
        self._start()
        self.wake()

    def add(self, connection: MonitoredConnection) -> None:
        """Watch the statements of a connection."""
        with self._lock:
            self._connections.add(connection)
        self._start()

    def remove(self, connection: MonitoredConnection) -> None:
        """Stop watching a connection."""
        with self._lock:
            self._connections.discard(connection)

    def wake(self) -> None:
        """Resume watching, if the thread sleeps."""
        if self._parked:
            self._awake.set()

    def close(self) -> None:
        """End the thread; a later connection starts another one."""
        with self._lock:
            thread, self._thread = self._thread, None
        self._awake.set()
        for running in (thread, self._probe):
            if running is not None:
                running.join()
        self._awake.clear()
        # The next connection, perhaps of a process that is forked now, determines the state anew.
        self._parked = self._suspected = self._stalled = False

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stalls", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        pause, idle = threading.Event(), 0
        while self._thread is threading.current_thread():
            idle = 0 if self._watch() else idle + 1
            if idle < _IDLE_TICKS:
                pause.wait(_TICK_SECONDS)
                continue
            self._parked = True
            # A statement that started before the line above did not wake this thread.
            if not self._watch() and self._thread is threading.current_thread():
                self._awake.wait()
            self._parked, idle = False, 0
            self._awake.clear()

    def _watch(self) -> bool:
        """End statements that wait too long; return whether there is anything to watch."""
        now = monotonic()
        running = [(connection, now - connection.started) for connection in self._all() if connection.started]
        for connection, seconds in running:
            if seconds > (INLINE_SECONDS if connection.inline else connection.max_seconds):
                self._suspected, self._probed_at = True, 0.0
                connection.end(interrupted=True)
        doubtful = not self.responsive or any(seconds > SLOW_SECONDS for _, seconds in running)
        pause = STALLED_PROBE_SECONDS if self._stalled else PROBE_SECONDS
        probing = self._probe is not None and self._probe.is_alive()
        if doubtful and not probing and now - self._probed_at > pause:
            # In another thread, because a probe waits for seconds, in which an event loop may begin to wait too.
            self._probe = threading.Thread(target=self._check, name="probe", daemon=True)
            self._probe.start()
        return doubtful or bool(running)

    def _check(self) -> None:
        """Find out whether the server answers, and end all waiting statements if it does not."""
        if self._answers(late=self._stalled and monotonic() - self._stalled_at > LONG_SECONDS):
            self._stalled = self._suspected = False
        else:
            if not self._stalled:
                logging.getLogger("ingot").warning(f"{self._server_kind} stalled", extra={"fields": {}})
                self._stalled_at = monotonic()
            self._stalled = True
            for connection in self._all():
                started = connection.started
                if started and monotonic() - started > ENDED_SECONDS:
                    connection.end()
        self._probed_at = monotonic()

    def _all(self) -> list[MonitoredConnection]:
        with self._lock:
            return list(self._connections)
