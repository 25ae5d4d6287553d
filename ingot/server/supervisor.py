"""Supervisor of the server's processes: opens sockets, starts children, restarts those that exit, drains on SIGTERM.

Children are forked, so that they share the memory of the modules that ``ingot serve`` has loaded, and start without a
new interpreter. The supervisor itself runs nothing but the loop in this module.
"""

import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingot.core.http.process_metrics import list_processes
from ingot.core.log import Log

DRAIN_SECONDS = 10.0
SHORT_RUN_SECONDS = 5.0
MAX_RESTART_DELAY_SECONDS = 30.0
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(slots=True)
class SupervisedProcess:
    """A process that is restarted when it exits."""

    name: str
    work: Callable[[int], None]
    """Serves until SIGTERM, or until the given descriptor reads as closed."""
    pid: int = 0
    started: float = 0.0
    pause: float = 0.0
    start_at: float = 0.0


class ForkRequests:
    """Requests of children to fork helper processes, which then also share the memory of the loaded modules.

    A child sends one byte with the descriptor that the helper serves. Helpers are not restarted; they end when their
    descriptor is closed.
    """

    def __init__(self, work: Callable[[int], None], load_modules: Callable[[], None] = lambda: None) -> None:
        self._work = work
        self.load_modules = load_modules
        """Loads the modules of the helpers before each is forked; all but the first time, there is nothing to load."""
        self.requests, self.control = socket.socketpair()
        """The supervisor's end and the end that all children share."""
        self.requests.setblocking(False)

    def receive(self) -> list[int]:
        """Return the descriptors that have arrived."""
        arrived: list[int] = []
        try:
            while True:
                requested, descriptors, _, _ = socket.recv_fds(self.requests, 1, 1)
                arrived += descriptors
                if not requested:
                    return arrived
        except BlockingIOError:
            return arrived

    def run_helper(self, descriptor: int) -> None:
        """Run the helper in the process that was forked for it, with no other descriptor than its own."""
        close_descriptors(keep=descriptor)
        self._work(descriptor)


def close_descriptors(*, keep: int | None = None) -> None:
    """Close what a forked process has inherited, such as sockets and the lock of the data directory."""
    for opened in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if opened > 2 and opened != keep:
            with suppress(OSError):  # The descriptor of the listing itself is closed already.
                os.close(opened)


def open_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; called before anything else starts, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Response heads and bodies are sent separately; without TCP_NODELAY the body could be delayed by 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((host, port))
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def run_in_child_process(work: Callable[[], None]) -> int:
    """Run a function in a child process, so that its imports are not retained; return the exit status."""
    pid = os.fork()
    if pid == 0:
        run_and_exit(work)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def run_and_exit(work: Callable[[], None]) -> None:
    """Run a child's work, then exit without returning to the parent's code."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as exit_error:
        code = exit_error.code if isinstance(exit_error.code, int) else 1
        if isinstance(exit_error.code, str):
            sys.stderr.write(exit_error.code + "\n")
    except BaseException:  # noqa: BLE001 - The child must exit here in any case.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Supervisor:
    """Supervisor that restarts children until a stop signal arrives."""

    def __init__(
        self,
        children: list[SupervisedProcess],
        log: Log,
        listeners: list[socket.socket],
        fork_requests: Sequence[ForkRequests] = (),
        process_list: Path | None = None,
    ) -> None:
        self._children = children
        self._process_list = process_list
        self._log = log
        self._listeners = listeners
        self._fork_requests = fork_requests
        self._stopping = False
        # Children hold the read end: it reads as closed when the supervisor exits, even if it is killed.
        self._lifeline, self._write_end = os.pipe()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._wake, False)

    def handle_signals(self) -> None:
        """Install the signal handlers; from now on a stop signal ends ``run``, even one that arrives before it."""
        signal.set_wakeup_fd(self._waker)
        for number in _STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # Ignored under nohup, for example.
                signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Start and watch the children; return after a stop signal, once all have exited."""
        while not self._stopping:
            now = time.monotonic()
            for child in self._children:
                if child.pid == 0 and child.start_at <= now:
                    self._start(child)
            waiting = [child.start_at - now for child in self._children if child.pid == 0]
            self._wait(max(0.0, min(waiting)) if waiting else None)
        self._drain()

    def _wait(self, seconds: float | None) -> None:
        """Wait for a signal, fork the helpers that children have requested, and record the children that ended."""
        select.select([self._wake, *(each.requests.fileno() for each in self._fork_requests)], [], [], seconds)
        _drain_pipe(self._wake)
        for forking in self._fork_requests:
            for descriptor in forking.receive():
                self._fork_helper(forking, descriptor)
        self._reap()

    def _fork_helper(self, forking: ForkRequests, descriptor: int) -> None:
        try:
            forking.load_modules()
            if os.fork() == 0:
                _reset_signals()
                run_and_exit(lambda: forking.run_helper(descriptor))
        except OSError as error:  # The child that requested it finds the descriptor closed.
            self._log("helper not started", error=error.strerror)
        os.close(descriptor)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _start(self, child: SupervisedProcess) -> None:
        # Block signals until the child has installed its own handlers; otherwise one that arrives earlier is lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        pid = os.fork()
        if pid == 0:
            _reset_signals()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            os.close(self._write_end)
            run_and_exit(lambda: child.work(self._lifeline))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        child.pid, child.started = pid, time.monotonic()
        if self._process_list is not None:
            running = {each.name: each.pid for each in self._children if each.pid}
            list_processes(self._process_list, {"supervisor": os.getpid(), **running})
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
        uptime = now - child.started
        child.pause = min(max(0.1, child.pause * 2), MAX_RESTART_DELAY_SECONDS) if uptime < SHORT_RUN_SECONDS else 0.0
        if not self._stopping:
            self._log("ended", process=child.name, pid=child.pid, code=code, uptime=round(uptime, 1), pause=child.pause)
        child.pid, child.start_at = 0, now + child.pause

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS
        # The web workers accept connections for a while. When the last one stops, new connections are refused at once
        # instead of waiting in the backlog.
        for listener in self._listeners:
            listener.close()
        self._signal(signal.SIGTERM)
        while any(child.pid for child in self._children) and time.monotonic() < deadline:
            self._wait(max(0.0, min(0.5, deadline - time.monotonic())))
        self._signal(signal.SIGKILL)
        self._log("stopped")

    def _signal(self, number: int) -> None:
        for child in self._children:
            if child.pid:
                try:
                    os.kill(child.pid, number)
                except ProcessLookupError:
                    pass


def _reset_signals() -> None:
    """Replace the supervisor's signal handlers in a child."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    # A terminal signals the whole process group; only the supervisor reacts, by draining.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _drain_pipe(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass
