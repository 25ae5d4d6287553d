"""Commands in their own processes, forked from one that has loaded the code.

A command takes over a second of processor time to load, and the tests start hundreds. The commands behave the
same; tests of startup itself start the interpreter.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HANGING_SECONDS = 600.0
"""Time after which a command hangs; a busy machine needs more than a minute for the demo."""


class ForkedProcess:
    """Subset of ``subprocess.Popen`` for a process that is a grandchild."""

    def __init__(self, pid: int, status: int, arguments: list[str]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status
        self._arguments = arguments

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self._arguments, timeout or 0)
            self._ended()
        assert self.returncode is not None
        return self.returncode

    def _ended(self) -> None:
        self.returncode = int(os.read(self._status, 16))
        os.close(self._status)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # Its end is reported a moment later.
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def start(
    module: str,
    *arguments: str,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    env: dict[str, str] | None = None,
    new_session: bool = False,
) -> ForkedProcess:
    """Start ``python -m module``, whose ``main`` is called; the descriptors are passed on."""
    order = {"module": module, "arguments": arguments, "env": env or dict(os.environ), "new_session": new_session}
    reading, writing = os.pipe()
    descriptors = [0 if stdin is None else stdin, 1 if stdout is None else stdout, 2 if stderr is None else stderr]
    packed = json.dumps(order).encode()
    parent = _parent()
    socket.send_fds(parent, [len(packed).to_bytes(4)], [*descriptors, writing])
    parent.sendall(packed)
    os.close(writing)
    return ForkedProcess(int.from_bytes(_exactly(parent, 4)), reading, [module, *arguments])


def run(
    module: str, *arguments: str, stdin: str = "", timeout: float = HANGING_SECONDS, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run it to its end and return its output."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        process = start(module, *arguments, stdin=given.fileno(), stdout=out.fileno(), stderr=err.fileno(), env=env)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            [module, *arguments], process.wait(), out.read().decode(), err.read().decode()
        )


@cache
def _parent() -> socket.socket:
    """Return the process that has loaded the code; it ends with this one."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", f"from tests.fork_server import serve; serve({theirs.fileno()})"]
    parent = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT)
    theirs.close()

    def stop() -> None:
        ours.close()
        parent.wait()

    atexit.register(stop)
    return ours


def _exactly(connection: socket.socket, size: int) -> bytes:
    pieces = b""
    while len(pieces) < size:
        piece = connection.recv(size - len(pieces))
        if not piece:
            raise EOFError
        pieces += piece
    return pieces


def serve(descriptor: int) -> None:
    """Fork a process for each request, and report its end."""
    import ingot.cli.backup
    import ingot.cli.doctor
    import ingot.cli.restore
    import ingot.cli.user  # noqa: F401 - Loading them is all that is wanted.
    from ingot.cli.server_processes import load_modules
    from ingot.web.template_environment import compile_templates

    load_modules()
    compile_templates()

    connection = socket.socket(fileno=descriptor)
    waking, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[int, int] = {}
    watched: list[socket.socket | int] = [connection, waking]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if waking in ready:
            os.read(waking, 512)
            _reap(running)
        if connection in ready:
            head, descriptors, _, _ = socket.recv_fds(connection, 4, 4)
            if not head:
                return
            head += _exactly(connection, 4 - len(head))
            order = json.loads(_exactly(connection, int.from_bytes(head)))
            *streams, status = descriptors
            pid = os.fork()
            if pid == 0:
                for mine in (connection.fileno(), waking, waker, status, *running.values()):
                    os.close(mine)
                _become(order, streams)
            for stream in streams:
                os.close(stream)
            running[pid] = status
            connection.sendall(pid.to_bytes(4))


def _reap(running: dict[int, int]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        told = running.pop(pid)
        try:
            os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
        except BrokenPipeError:
            pass  # The parent has closed the pipe.
        os.close(told)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Set up the state with which the interpreter starts a module."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    if order["new_session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.argv = [order["module"], *order["arguments"]]
    code = 0
    try:
        import_module("ingot.cli.main" if order["module"] == "ingot" else order["module"]).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 - As the interpreter handles uncaught exceptions.
        traceback.print_exc()
        code = 1
    for printed in (sys.stdout, sys.stderr):
        try:
            printed.flush()
        except OSError:
            pass
    os._exit(code)
