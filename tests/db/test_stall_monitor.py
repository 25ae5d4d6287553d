"""Thread that watches statements: it can be stopped before a fork, and starts again with the next connection."""

import socket
import threading

from ingot.core.db.stalls import MonitoredConnection, StallMonitor


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
