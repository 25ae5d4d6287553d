"""Processes in which some kinds of jobs run, so that their modules do not stay in the memory of the job worker.

The worker requests them from a process that forks them. A process runs one job at a time, and ends when no job has
arrived for a while or when the worker has ended.
"""

import os
import select
import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import monotonic
from typing import Any

import msgspec

from ingot.core.db.database import Database
from ingot.core.jobs.handlers import JobHandler, RetryLater, describe_error

IDLE_SECONDS = 10.0
"""A process ends when it has waited this long for a job."""
_MAX_REUSE_SECONDS = IDLE_SECONDS / 2
"""A process that has waited longer gets no more jobs, because it may be about to end."""


class JobProcessFailure(Exception):
    """A job failed in its process, which has logged the reason."""

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description


class _JobRequest(msgspec.Struct):
    kind: str
    payload: Any


class _JobReply(msgspec.Struct):
    error: str | None = None
    retry_seconds: float | None = None
    retry_reason: str | None = None


class JobProcesses:
    """The processes of a job worker; several jobs may run at once."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()
        self._idle: list[tuple[socket.socket, float]] = []

    def handlers(self, kinds: Iterable[str]) -> dict[str, JobHandler]:
        """Return handlers that run jobs of some kinds in a process."""
        return {kind: partial(self._run, kind) for kind in kinds}

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _run(self, kind: str, database: Database, payload: Any) -> None:  # noqa: ARG002 - The process has its own.
        connection = self._connection()
        try:
            connection.sendall(msgspec.json.encode(_JobRequest(kind, payload)) + b"\n")
            reply = msgspec.json.decode(_read_line(connection), type=_JobReply)
        except (OSError, EOFError) as error:
            connection.close()
            raise JobProcessFailure("The process of the job ended") from error
        with self._lock:
            self._idle.append((connection, monotonic()))
        if reply.retry_seconds is not None:
            raise RetryLater(reply.retry_seconds, reply.retry_reason)
        if reply.error is not None:
            raise JobProcessFailure(reply.error)

    def _connection(self) -> socket.socket:
        """Return the connection to an idle process, or to a new one."""
        with self._lock:
            while self._idle:
                connection, since = self._idle.pop()
                if monotonic() - since < _MAX_REUSE_SECONDS:
                    return connection
                connection.close()
        connection, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"!"], [theirs.fileno()])
        return connection


def run_requested_jobs(
    descriptor: int, database: Database, handlers: Mapping[str, JobHandler], log: Callable[..., None]
) -> None:
    """Run the jobs that arrive on a socket, until it is closed or none has arrived for a while."""
    with socket.socket(fileno=descriptor) as connection:
        threading.Thread(target=_exit_after_worker, args=[connection.fileno()], daemon=True).start()
        connection.settimeout(IDLE_SECONDS)
        try:
            while True:
                request = msgspec.json.decode(_read_line(connection), type=_JobRequest)
                reply = _perform(request, database, handlers[request.kind], log)
                connection.sendall(msgspec.json.encode(reply) + b"\n")
        except (EOFError, OSError):  # The worker has ended, or there is nothing to do.
            return


def _perform(request: _JobRequest, database: Database, handler: JobHandler, log: Callable[..., None]) -> _JobReply:
    try:
        handler(database, request.payload)
    except RetryLater as retry:
        return _JobReply(retry_seconds=retry.seconds, retry_reason=retry.reason)
    except Exception as error:  # noqa: BLE001 - The worker records that the job failed.
        where = "".join(traceback.format_tb(error.__traceback__))
        log("job failed", kind=request.kind, error=type(error).__name__, where=where)
        return _JobReply(error=describe_error(error, request.payload, silent=database.engine.errors))
    return _JobReply()


def _exit_after_worker(descriptor: int) -> None:
    """Exit when the worker has ended: another one runs its job again, and this process must not outlive the server."""
    closed = select.poll()
    closed.register(descriptor, 0)  # Reports nothing but the end of the connection.
    closed.poll()
    os._exit(0)


def _read_line(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        piece = connection.recv(1 << 16)
        if not piece:
            raise EOFError
        received += piece
    return received
