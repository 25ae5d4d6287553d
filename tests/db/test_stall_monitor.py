"""Thread that watches statements: it can be stopped before a fork, and starts again with the next connection."""

import socket
import threading

import pytest

from ingot.core.db import stalls
from ingot.core.db.stalls import MonitoredConnection, StallMonitor


class _SilentConnection:
    """Connection of a driver whose statements wait until it is ended."""

    def __init__(self) -> None:
        self._mine, self._other = socket.socketpair()

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._mine.fileno()

    def execute(self, *_: object) -> bytes:
        """Wait; return nothing."""
        return self._mine.recv(1)

    def close(self) -> None:
        """Close both ends."""
        self._mine.close()
        self._other.close()


def _watchers(before: list[threading.Thread]) -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread not in before and thread.name == "stalls"]


def test_a_closed_monitor_starts_again() -> None:
    before = threading.enumerate()
    monitor = StallMonitor(lambda **_: True)
    for _ in range(2):
        mine, other = socket.socketpair()
        connection = MonitoredConnection(mine, monitor)
        assert _watchers(before) == ["stalls"]
        connection.close()
        other.close()
        monitor.close()
        assert _watchers(before) == []
    monitor.close()


def test_statements_on_an_event_loop_end_while_a_probe_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that connection is lost, because the server may be well."""
    monkeypatch.setattr(stalls, "SLOW_SECONDS", 0.0)
    probing, answered = threading.Event(), threading.Event()

    def answers(**_: object) -> bool:
        probing.set()
        return answered.wait()

    monitor = StallMonitor(answers)
    in_thread, on_loop = (MonitoredConnection(_SilentConnection(), monitor) for _ in range(2))
    on_loop.mark_inline(True)
    waiting = threading.Thread(target=in_thread.execute, args=("SELECT 1",))
    waiting.start()
    assert probing.wait(60)
    assert on_loop.execute("SELECT 1") == b""
    assert (on_loop.interrupted, in_thread.interrupted, waiting.is_alive()) == (True, False, True)
    assert not monitor.responsive
    answered.set()
    in_thread.end()
    waiting.join()
    for connection in (in_thread, on_loop):
        connection.close()
    monitor.close()
