"""Channel of a client of OpenSSH: the standard descriptors of its forced command, passed over a Unix socket."""

import asyncio
import json
import os
import select
import signal
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ingot.core.http.transfer_rate import MIN_BYTES_PER_SECOND
from ingot.transport.backend import GitCommand
from ingot.transport.git_process import CHUNK_BYTES
from ingot.transport.pipes import Pipes, is_writable, wait_readable
from ingot.transport.request_bodies import ClientDisconnected, ClientStalled

_CREDENTIALS = struct.Struct("3i")
"""Process, user and group at the other end of a Unix socket."""


class ShellChannel:
    """Descriptors of a forced command as a git client."""

    interactive = True
    has_replied = False
    """Whether the forced command has been told to run git."""

    def __init__(
        self,
        descriptors: Sequence[int],
        connection: socket.socket,
        fingerprint: str,
        command: str | None,
        git_protocol: str,
        address: str,
        slow_reader_seconds: float,
    ) -> None:
        self._stdin, self._stdout, self._stderr = descriptors
        self._connection = connection
        self.fingerprint = fingerprint
        self.command = command
        self.git_protocol = git_protocol
        self.address = address
        self._slow_reader_seconds = slow_reader_seconds
        self._part_bytes = int(MIN_BYTES_PER_SECOND * slow_reader_seconds)

    @cached_property
    def _pipes(self) -> Pipes:
        """Made at the first use: it makes the descriptors non-blocking, also for a git that the command runs itself."""
        return Pipes(self._stdin, self._stdout, self._stderr)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the client's standard input."""
        try:
            while chunk := await self._pipes.read(self._stdin, CHUNK_BYTES):
                yield chunk
        except OSError:
            raise ClientDisconnected from None

    async def send(self, chunk: bytes) -> None:
        """Write to the client's standard output, in parts that the client has to read in a limited time each."""
        for start in range(0, len(chunk), self._part_bytes):
            try:
                async with asyncio.timeout(self._slow_reader_seconds):
                    await self._pipes.write(self._stdout, chunk[start : start + self._part_bytes])
            except TimeoutError:
                raise ClientStalled from None
            except OSError:
                raise ClientDisconnected from None

    async def run_git(self, command: GitCommand) -> int:
        """Let the forced command replace itself by git, and wait for its end; end it if the client does not read."""
        self.has_replied = True
        process = _peer_process(self._connection)
        try:
            argv, cwd, env = command
            await send_reply(self._connection, {"argv": argv, "cwd": str(cwd), "env": env})
            self._connection.shutdown(socket.SHUT_WR)  # The command reads up to here; its own direction stays open.
            await self._wait_for_git(process)
        finally:
            if process is not None:
                os.close(process[1])
        return 0

    async def _wait_for_git(self, process: tuple[int, int] | None) -> None:
        written = 0
        while True:
            try:
                async with asyncio.timeout(self._slow_reader_seconds):
                    await wait_readable(self._connection.fileno())
            except TimeoutError:
                before, written = written, 0 if process is None else _written_bytes(process[0])
                if process is not None and written - before < self._part_bytes and not is_writable(self._stdout):
                    signal.pidfd_send_signal(process[1], signal.SIGKILL)
                    return
            else:
                return

    async def send_error(self, text: str) -> None:
        """Write to the client's standard error."""
        try:
            await self._pipes.write(self._stderr, text.encode())
        except OSError:
            raise ClientDisconnected from None

    async def wait_disconnected(self) -> None:
        """Return when sshd has closed its end of standard output, or when the forced command has ended."""
        if not hasattr(select, "epoll"):  # The next write fails instead.
            await asyncio.Event().wait()
        with select.epoll() as hangup:
            # Without any event to wait for, only hangups and errors are reported.
            for descriptor in (self._stdout, self._connection.fileno()):
                try:
                    hangup.register(descriptor, 0)
                except PermissionError:  # A regular file, which has no other end.
                    pass
            await wait_readable(hangup.fileno())

    def abort(self) -> None:
        """Stop waiting for the client; the descriptors are closed at the end of the session."""

    def close(self) -> None:
        """Close the descriptors."""
        if "_pipes" in self.__dict__:
            self._pipes.close()
        else:
            for descriptor in (self._stdin, self._stdout, self._stderr):
                os.close(descriptor)


async def send_reply(connection: socket.socket, reply: dict[str, Any]) -> None:
    """Send a reply to a forced command."""
    await asyncio.get_running_loop().sock_sendall(connection, json.dumps(reply).encode())


def _peer_process(connection: socket.socket) -> tuple[int, int] | None:
    """Return the id and a descriptor of the process that waits at the other end; None if the system has no such."""
    try:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid: int = _CREDENTIALS.unpack(credentials)[0]
        return pid, os.pidfd_open(pid)
    except (AttributeError, OSError):  # The process has ended, or the system is not Linux.
        return None


def _written_bytes(pid: int) -> int:
    """Return how much a process has written since its start; 0 if that is unknown."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:  # The process has ended, or the system has no such file.
        return 0
    return next((int(line.partition(":")[2]) for line in lines if line.startswith("wchar:")), 0)
