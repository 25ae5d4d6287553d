"""Pool of rendering processes, in which code and long Markdown texts are rendered within limits.

A process is forked on demand, is used for one task at a time, and ends when a task exceeds its limits.
"""

import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from hashlib import blake2b
from time import monotonic

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.core.markup.links import ReferenceResolver
from ingot.core.markup.render_messages import (
    READY,
    FoundReferences,
    HighlightTask,
    MarkdownTask,
    RenderedBlocks,
    RenderingFailed,
    RenderTask,
    ResolvedLinks,
    RestructuredTextTask,
    receive_reply,
    send_message,
)
from ingot.core.offload import require_blocking_allowed

MAX_PROCESSES = 2
"""Limit of tasks that run at once for one process; others wait."""
MAX_IDLE_SECONDS = 30.0
"""Less than the time after which a rendering process ends by itself, so that a task never reaches one that ends."""
MAX_REUSED_CHARACTERS = 100_000
"""After a longer task, a process is not used again, because it would hold the memory that the task needed."""
_START_SECONDS = 30.0
MAX_WAITING = 1
"""Tasks that wait for others; more are not rendered, so that renderings never occupy all threads of a worker."""
_QUEUE_SECONDS = 2.0
_failure_cache: BoundedCache[bytes, bool] = declare_cache("failed-renderings", share=1)
_FAILURE_BYTES = 100


class RenderLimitExceeded(Exception):
    """The task exceeded a limit or failed, and would do so again."""


class RendererUnavailable(Exception):
    """No rendering process could be started or was free in time; a later attempt may succeed."""


class RenderPool:
    """Rendering processes of this process; started with the first task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(MAX_PROCESSES)
        self._queue = threading.BoundedSemaphore(MAX_WAITING)
        self._idle: list[tuple[socket.socket, float]] = []
        self._running: dict[bytes, Future[list[str]]] = {}
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def use_fork_server(self, control: socket.socket) -> None:
        """Use the process at the other end of a socket to fork rendering processes, instead of starting one."""
        self._control = control

    def highlight(self, task: HighlightTask) -> list[str]:
        """Return the HTML of code blocks; concurrent calls for the same blocks share one computation."""
        key = _key(task)
        require_blocking_allowed()
        with self._lock:
            running = self._running.get(key)
            if running is None:
                result = self._running[key] = Future()
        if running is not None:
            return running.result()
        try:
            html = self._run(key, task, None, sum(len(block.code) for block in task.blocks))
        except BaseException as error:
            result.set_exception(error)
            raise
        else:
            result.set_result(html)
            return html
        finally:
            with self._lock:
                del self._running[key]

    def render(self, task: MarkdownTask | RestructuredTextTask, resolve: ReferenceResolver | None) -> str:
        """Return the HTML of a text."""
        key = _key(task)
        require_blocking_allowed()
        return self._run(key, task, resolve, len(task.text))[0]

    def close(self) -> None:
        """End the processes of this pool; the next task starts others."""
        with self._lock:
            idle, self._idle = self._idle, []
            server, self._server = self._server, None
            control, self._control = self._control, None
        for connection, _ in idle:
            connection.close()
        if control is not None:
            control.close()
        if server is not None:
            server.wait()

    def _run(self, key: bytes, task: RenderTask, resolve: ReferenceResolver | None, length: int) -> list[str]:
        self._take_slot()
        try:
            connection = self._connection()
            try:
                html = _perform(connection, task, resolve)
            except BaseException:
                connection.close()
                raise
            if length > MAX_REUSED_CHARACTERS:
                connection.close()
            else:
                with self._lock:
                    self._idle.append((connection, monotonic()))
            return html
        except RenderLimitExceeded as error:
            _failure_cache.put(key, True, _FAILURE_BYTES)
            log_failure(
                "rendering limit exceeded", error, task=type(task).__name__, characters=length, reason=str(error)
            )
            raise
        except (OSError, EOFError) as error:
            log_failure("no rendering process", error)
            raise RendererUnavailable from error
        finally:
            self._slots.release()

    def _take_slot(self) -> None:
        """Wait for a moment until fewer than the maximum of tasks run; raise ``RendererUnavailable`` otherwise."""
        if self._slots.acquire(blocking=False):
            return
        if not self._queue.acquire(blocking=False):
            raise RendererUnavailable
        try:
            if not self._slots.acquire(timeout=_QUEUE_SECONDS):
                raise RendererUnavailable
        finally:
            self._queue.release()

    def _connection(self) -> socket.socket:
        """Return a connection to an idle process, or to a new one."""
        with self._lock:
            while self._idle:
                connection, used_at = self._idle.pop()
                if monotonic() - used_at < MAX_IDLE_SECONDS and not _has_ended(connection):
                    return connection
                connection.close()
            control = self._control or self._start_server()
        connection, other_end = socket.socketpair()
        try:
            with other_end:
                socket.send_fds(control, [b"+"], [other_end.fileno()])
            connection.settimeout(_START_SECONDS)
            if connection.recv(1) != READY:
                raise EOFError
        except BrokenPipeError:
            connection.close()
            self.close()  # The server has ended; the next task starts another.
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def _start_server(self) -> socket.socket:
        """Start a process that forks rendering processes; the caller holds the lock."""
        self._control, other_end = socket.socketpair()
        program = "from ingot.core.markup.render_server import serve_forks; serve_forks(0)"
        with other_end:
            self._server = subprocess.Popen([sys.executable, "-c", program], stdin=other_end.fileno())
        return self._control


def _has_ended(connection: socket.socket) -> bool:
    """Return whether an idle process has ended, for example because the system ran out of memory."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:  # Reset.
        return True


def _key(task: RenderTask) -> bytes:
    """Return the key of a task; raise ``RenderLimitExceeded`` if the task has failed before or cannot be sent."""
    try:
        key = blake2b(msgspec.msgpack.encode(task), digest_size=16).digest()
    except UnicodeEncodeError as error:  # A lone surrogate.
        raise RenderLimitExceeded from error
    if _failure_cache.get(key):
        raise RenderLimitExceeded
    return key


def _perform(connection: socket.socket, task: RenderTask, resolve: ReferenceResolver | None) -> list[str]:
    # A task that gets no processor time at all is abandoned, too.
    connection.settimeout(_START_SECONDS + 10 * task.cpu_seconds)
    send_message(connection, task)
    try:
        reply = receive_reply(connection)
        if isinstance(reply, FoundReferences) and resolve is not None:
            send_message(connection, ResolvedLinks(list(resolve(reply.references))))
            reply = receive_reply(connection)
    except EOFError as error:
        raise RenderLimitExceeded from error
    if not isinstance(reply, RenderedBlocks):
        raise RenderLimitExceeded(reply.error if isinstance(reply, RenderingFailed) else "")
    return reply.html


POOL = RenderPool()
"""Pool of this process."""
