"""Stopping a runner between its requests."""

import ctypes
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ingot.runner.client import RunnerClient
from ingot.runner.execution import RunnerPaths
from ingot.runner.http import NoResponse, ServerConnection, exchange
from ingot.runner.worker import RunnerWorker
from tests.ci.own_runner.protocol_server import ProtocolServer
from tests.server.process import until


def test_no_request_follows_a_stop(tmp_path: Path) -> None:
    """The server could hold it for a minute."""

    class Client(RunnerClient):
        def poll_connection(self) -> ServerConnection:
            worker.stop()
            return super().poll_connection()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "token", "r_1")
        paths = RunnerPaths(tmp_path / "builds", tmp_path / "cache", tmp_path / "running")
        worker = RunnerWorker(client, paths, lambda *_, **__: None)
        worker.run()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_a_connection_that_was_aborted_early_sends_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = ServerConnection(f"http://127.0.0.1:{silent.getsockname()[1]}")
        connection.abort()
        with pytest.raises(NoResponse):
            exchange(connection, "POST", "/", {}, b"{}")
        accepted, _ = silent.accept()
        with accepted:
            assert accepted.recv(1) == b""


def test_a_signal_may_reach_any_thread(server: ProtocolServer, tmp_path: Path) -> None:
    """The system chooses the thread; after the process was suspended, it is often not the main one."""
    command = [sys.executable, "-m", "ingot", "runner", "--url", server.url, "--work", str(tmp_path), "--token", "t"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            until("a request for a job", lambda: server.requests)
            thread = max(int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir())
            assert ctypes.CDLL(None).tgkill(process.pid, thread, signal.SIGQUIT) == 0
            assert process.wait(60) == 0
        finally:
            process.kill()
