"""Runs the children of one machine: opens the socket, starts them, restarts what dies, drains on SIGTERM.

Only the standard library is imported here: the supervisor lives as long as the server and should weigh little.
Children are forked, so they share its pages and start without another interpreter.
"""

import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from ingot.log import Log

DRAIN_SECONDS = 10.0
SHORT_RUN_SECONDS = 5.0
MAX_RESTART_DELAY_SECONDS = 30.0
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(slots=True)
class SupervisedProcess:
    """One process to keep alive."""

    name: str
    work: Callable[[int], None]
    """Serves until the descriptor it is given reads as closed, or SIGTERM."""
    pid: int = 0
    started: float = 0.0
    pause: float = 0.0
    start_at: float = 0.0


def open_socket(host: str, port: int) -> socket.socket:
    """Listen before anything else starts, so that a taken port is said at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Heads and bodies leave separately; unless told so, some event loops let the second wait 40 ms for the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((host, port))
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def run_in_child_process(work: Callable[[], None]) -> int:
    """Run something in a child of its own, so that what it imports is not kept; gives its exit status."""
    pid = os.fork()
    if pid == 0:
        _run_and_exit(work)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _run_and_exit(work: Callable[[], None]) -> None:
    """Do the work of a child, then end without returning into the parent's code."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
        if isinstance(leaving.code, str):
            sys.stderr.write(leaving.code + "\n")
    except BaseException:  # noqa: BLE001 - The child must end here, whatever happened.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Supervisor:
    """Keeps the children alive until it is told to stop."""

    def __init__(self, children: list[SupervisedProcess], log: Log, listeners: list[socket.socket]) -> None:
        self._children = children
        self._log = log
        self._listeners = listeners
        self._stopping = False
        # Children hold the reading end: when the supervisor dies, however it dies, it reads as closed.
        self._lifeline, self._mine = os.pipe()

    def run(self) -> None:
        """Start the children and watch them; returns once they have all ended after a signal."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(waker)
        for number in _STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # Such as under nohup.
                signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while not self._stopping:
            now = time.monotonic()
            for child in self._children:
                if child.pid == 0 and child.start_at <= now:
                    self._start(child)
            waiting = [child.start_at - now for child in self._children if child.pid == 0]
            select.select([wake], [], [], max(0.0, min(waiting)) if waiting else None)
            _drain_pipe(wake)
            self._reap()
        self._drain(wake)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _start(self, child: SupervisedProcess) -> None:
        # A signal between the fork and the child's own handlers would be lost; it waits instead.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            # What a terminal sends goes to everybody; only the supervisor answers it, by draining.
            for number in (signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            os.close(self._mine)
            _run_and_exit(lambda: child.work(self._lifeline))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        child.pid, child.started = pid, time.monotonic()
        self._log("started", process=child.name, pid=pid)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for child in self._children:
                if child.pid == pid:
                    self._ended(child, os.waitstatus_to_exitcode(status))

    def _ended(self, child: SupervisedProcess, code: int) -> None:
        now = time.monotonic()
        lived = now - child.started
        child.pause = min(max(0.1, child.pause * 2), MAX_RESTART_DELAY_SECONDS) if lived < SHORT_RUN_SECONDS else 0.0
        if not self._stopping:
            self._log("ended", process=child.name, pid=child.pid, code=code, lived=round(lived, 1), pause=child.pause)
        child.pid, child.start_at = 0, now + child.pause

    def _drain(self, wake: int) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        # Once the last web worker closes it too, new connections are refused instead of waiting for nobody.
        for listener in self._listeners:
            listener.close()
        self._signal(signal.SIGTERM)
        while any(child.pid for child in self._children) and time.monotonic() < deadline:
            select.select([wake], [], [], max(0.0, min(0.5, deadline - time.monotonic())))
            _drain_pipe(wake)
            self._reap()
        self._signal(signal.SIGKILL)
        self._log("stopped")

    def _signal(self, number: int) -> None:
        for child in self._children:
            if child.pid:
                try:
                    os.kill(child.pid, number)
                except ProcessLookupError:
                    pass


def _drain_pipe(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass
